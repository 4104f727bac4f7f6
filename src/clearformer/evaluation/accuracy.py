"""The share of examples whose class is right, with Wilson's interval, and which classes are taken for which."""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

Z = 1.959964  # of a normal distribution: 95 %
UNEVEN = 0.5  # of an equal share: with less, a class is rare
SAMPLES = 1000  # of the bootstrap


def score_classes(found: Sequence[str], wanted: Sequence[str]) -> dict[str, float | str]:
    """accuracy as a share of one; `_low` and `_high` are Wilson's 95 % interval.

    Where classes are uneven, accuracy says little of the rare ones: then also macro_f1, its interval by bootstrap.
    """
    if len(found) != len(wanted) or not wanted:
        raise ValueError(f"{len(found)} classes cannot be compared with {len(wanted)}; give as many, and at least one")
    right = sum(map(str.__eq__, found, wanted))
    low, high = wilson(right, len(wanted))
    scores: dict[str, float | str] = {"accuracy": right / len(wanted), "accuracy_low": low, "accuracy_high": high}
    signature = "share of examples; 95 % interval by Wilson"
    if is_uneven(Counter(wanted)):
        scores["macro_f1"] = macro_f1(found, wanted)
        scores["macro_f1_low"], scores["macro_f1_high"] = _bootstrap(found, wanted)
        signature += f", of macro F1 by {SAMPLES} bootstrap samples"
    return scores | {"examples": float(len(wanted)), "signature": signature}


def _bootstrap(found: Sequence[str], wanted: Sequence[str]) -> tuple[float, float]:
    """Of macro F1: the counts of true and said are drawn anew, which is the same as drawing examples."""
    names = sorted({*found, *wanted})
    place = {name: number for number, name in enumerate(names)}
    table = np.zeros((len(names), len(names)))
    for said, true in zip(found, wanted, strict=True):
        table[place[true], place[said]] += 1
    draw = np.random.default_rng(1)
    drawn = draw.multinomial(len(wanted), table.ravel() / len(wanted), size=SAMPLES).reshape(-1, *table.shape)
    true_counts, both = drawn.sum(axis=2), drawn.sum(axis=2) + drawn.sum(axis=1)
    f1 = 2 * np.diagonal(drawn, axis1=1, axis2=2) / np.maximum(both, 1)
    means = np.where(true_counts > 0, f1, 0).sum(axis=1) / np.maximum((true_counts > 0).sum(axis=1), 1)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


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


def macro_f1(found: Sequence[str], wanted: Sequence[str]) -> float:
    """The mean F1 of the classes that occur: a rare class counts as much as a common one."""
    right = Counter(true for said, true in zip(found, wanted, strict=True) if said == true)
    said, true = Counter(found), Counter(wanted)
    return sum(2 * right[name] / (said[name] + true[name]) for name in true) / len(true)


def is_uneven(counts: Counter[str]) -> bool:
    """Whether a class has less than half of what it would have if all were alike."""
    return min(counts.values()) < UNEVEN * counts.total() / len(counts)
