"""Numbers against those that people gave: Pearson's and Spearman's correlation, and how far off on average."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

SAMPLES = 1000  # of the bootstrap
Numbers = NDArray[np.float64]


def score_numbers(found: Sequence[float], wanted: Sequence[float], *, interval: bool = True) -> dict[str, float | str]:
    """spearman compares the order, pearson also the distances; mean_error is how far off in the numbers' own unit."""
    if len(found) != len(wanted) or not len(wanted):
        raise ValueError(f"{len(found)} numbers cannot be compared with {len(wanted)}; give as many, and at least one")
    mine, true = np.asarray(found, dtype=np.float64), np.asarray(wanted, dtype=np.float64)
    scores: dict[str, float | str] = {
        "spearman": pearson(ranks(mine), ranks(true)),
        "pearson": pearson(mine, true),
        "mean_error": float(np.abs(mine - true).mean()),
    }
    if not interval:
        return scores
    draw = np.random.default_rng(1)
    drawn = []
    for _ in range(SAMPLES):
        rows = draw.integers(len(true), size=len(true))
        drawn.append((pearson(ranks(mine[rows]), ranks(true[rows])), pearson(mine[rows], true[rows])))
    low, high = np.quantile(np.array(drawn), (0.025, 0.975), axis=0)
    for place, name in enumerate(("spearman", "pearson")):
        scores[f"{name}_low"], scores[f"{name}_high"] = float(low[place]), float(high[place])
    return scores | {
        "examples": float(len(true)),
        "signature": f"ranks with ties averaged; 95 % interval by {SAMPLES} bootstrap samples",
    }


def pearson(one: Numbers, other: Numbers) -> float:
    """Between -1 and 1; 0 where one of them does not vary."""
    a, b = one - one.mean(), other - other.mean()
    size = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return float((a * b).sum() / size) if size > 0 else 0.0


def ranks(values: Numbers) -> Numbers:
    """From 1; equal values share the mean of their ranks."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = counts.cumsum()
    mean: Numbers = (last - (counts - 1) / 2).astype(np.float64)
    return mean[inverse]
