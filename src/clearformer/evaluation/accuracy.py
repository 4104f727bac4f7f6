"""The share of examples whose class is right, with Wilson's interval, and which classes are taken for which."""

import math
from collections import Counter
from collections.abc import Sequence

Z = 1.959964  # of a normal distribution: 95 %


def score_classes(found: Sequence[str], wanted: Sequence[str]) -> dict[str, float | str]:
    """accuracy as a share of one; `_low` and `_high` are Wilson's 95 % interval."""
    if len(found) != len(wanted) or not wanted:
        raise ValueError(f"{len(found)} classes cannot be compared with {len(wanted)}; give as many, and at least one")
    right = sum(map(str.__eq__, found, wanted))
    low, high = wilson(right, len(wanted))
    return {
        "accuracy": right / len(wanted),
        "accuracy_low": low,
        "accuracy_high": high,
        "examples": float(len(wanted)),
        "signature": "share of examples; 95 % interval by Wilson",
    }


def wilson(right: int, count: int) -> tuple[float, float]:
    """The interval of a share, which stays inside 0 and 1 also for few examples (Wilson, 1927)."""
    share, weight = right / count, Z * Z / count
    middle = (share + weight / 2) / (1 + weight)
    spread = Z * math.sqrt(share * (1 - share) / count + weight / (4 * count)) / (1 + weight)
    low, high = max(0.0, middle - spread), min(1.0, middle + spread)
    return min(low, share), max(high, share)  # rounding must not put a share of one outside


def confusion(found: Sequence[str], wanted: Sequence[str], labels: Sequence[str]) -> list[list[int]]:
    """Row: the true class; column: what the model said."""
    counts = Counter(zip(wanted, found, strict=True))
    return [[counts[(true, said)] for said in labels] for true in labels]
