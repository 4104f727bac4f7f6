"""Several labels for one example: micro and macro F1, how often all are right, and the threshold that serves best."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

SAMPLES = 1000  # of the bootstrap
Marks = NDArray[np.bool_]  # N L: which example has which label


def score_label_sets(found: Marks, wanted: Marks, *, interval: bool = True) -> dict[str, float | str]:
    """micro_f1 counts every label of every example alike, macro_f1 every label alike; subset_accuracy wants all right.

    A label that no example has does not count in macro_f1. With `interval`, also 95 % by bootstrap over examples.
    """
    if found.shape != wanted.shape or not len(wanted):
        raise ValueError(f"labels of shape {found.shape} cannot be compared with {wanted.shape}; give as many")
    scores: dict[str, float | str] = dict(_scores(found, wanted))
    if not interval:
        return scores
    draw = np.random.default_rng(1)
    drawn = []
    for _ in range(SAMPLES):
        rows = draw.integers(len(wanted), size=len(wanted))
        drawn.append(list(_scores(found[rows], wanted[rows]).values()))
    low, high = np.quantile(np.array(drawn), (0.025, 0.975), axis=0)
    for place, name in enumerate(("micro_f1", "macro_f1", "subset_accuracy")):
        scores[f"{name}_low"], scores[f"{name}_high"] = float(low[place]), float(high[place])
    return scores | {
        "examples": float(len(wanted)),
        "signature": f"several labels; 95 % interval by {SAMPLES} bootstrap samples",
    }


def _scores(found: Marks, wanted: Marks) -> dict[str, float]:
    right, said, true = (found & wanted).sum(axis=0), found.sum(axis=0), wanted.sum(axis=0)
    there = true > 0
    each = 2 * right[there] / (said + true)[there]
    total = int(said.sum() + true.sum())
    return {
        "micro_f1": float(2 * right.sum() / total) if total else 1.0,
        "macro_f1": float(each.mean()) if there.any() else 1.0,
        "subset_accuracy": float((found == wanted).all(axis=1).mean()),
    }


def best_threshold(probabilities: NDArray[np.float64], wanted: Marks) -> float:
    """The threshold with the highest micro F1; of several, the one nearest to a half."""
    tried = np.round(np.arange(0.05, 0.96, 0.01), 2)
    scores = [float(_scores(probabilities >= one, wanted)["micro_f1"]) for one in tried]
    return float(max(zip(scores, tried, strict=True), key=lambda pair: (round(pair[0], 9), -abs(pair[1] - 0.5)))[1])


def as_marks(sets: Sequence[Sequence[str]], labels: Sequence[str]) -> Marks:
    """Sets of labels as a table; what is none of `labels` is left out."""
    places = {label: place for place, label in enumerate(labels)}
    marks = np.zeros((len(sets), len(labels)), dtype=np.bool_)
    for row, one in enumerate(sets):
        marks[row, [places[label] for label in one if label in places]] = True
    return marks
