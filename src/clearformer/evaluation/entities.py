"""Entities found: precision, recall and F1 of spans that are right in both ends and in type, with an interval."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clearformer.data.entity_tags import spans

SAMPLES = 1000  # of the bootstrap
Tags = Sequence[str]


def score_entities(found: Sequence[Tags], wanted: Sequence[Tags], *, interval: bool = True) -> dict[str, float | str]:
    """precision, recall and f1 as shares of one, and f1 for each type; `_low` and `_high` are of a 95 % interval.

    The interval comes from drawing sentences anew, because the entities of one sentence stand or fall together.
    """
    if len(found) != len(wanted) or not wanted:
        raise ValueError(f"{len(found)} sentences cannot be compared with {len(wanted)}; give as many, at least one")
    each = np.zeros((len(wanted), 3), dtype=np.int64)  # right, found, wanted
    kinds: tuple[Counter[str], Counter[str], Counter[str]] = (Counter(), Counter(), Counter())
    for row, (mine, true) in enumerate(zip(found, wanted, strict=True)):
        if len(mine) != len(true):
            raise ValueError(f"sentence {row + 1} has {len(true)} words, but {len(mine)} tags were found")
        here, there = set(spans(mine)), set(spans(true))
        for column, group in enumerate((here & there, here, there)):
            each[row, column] = len(group)
            kinds[column].update(span.kind for span in group)
    right, said, true_count = each.sum(axis=0).tolist()
    scores: dict[str, float | str] = {
        "f1": _f1(each.sum(axis=0)),
        "precision": right / said if said else 0.0,
        "recall": right / true_count if true_count else 0.0,
    }
    if interval:
        scores["f1_low"], scores["f1_high"] = _interval(each)
        for kind in sorted(kinds[2]):
            scores[f"f1:{kind}"] = _f1(np.array([counts[kind] for counts in kinds]))
        scores |= {
            "examples": float(len(wanted)),
            "entities": float(true_count),
            "signature": "entities exact in span and type; 95 % interval by bootstrap over sentences",
        }
    return scores


def _f1(counts: NDArray[np.int64]) -> float:
    """Twice the right ones over those found and wanted; nothing found where nothing is wanted scores 0 as well."""
    right, said, true_count = counts.tolist()
    return float(2 * right / (said + true_count)) if said + true_count else 0.0


def _interval(each: NDArray[np.int64]) -> tuple[float, float]:
    draw = np.random.default_rng(1)
    count = len(each)
    drawn = [_f1(each[draw.integers(count, size=count)].sum(axis=0)) for _ in range(SAMPLES)]
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)
