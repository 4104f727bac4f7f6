"""How well masks are found: Dice, average precision of instances, intersection over union of classes.

Intervals by bootstrap: whole pictures are drawn anew, because the things of one picture are alike.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearformer.evaluation.accuracy import SAMPLES

Numbers = NDArray[np.integer[Any]]  # Y X; 0 is background
HALF = 0.5
THRESHOLDS = tuple(round(0.5 + 0.05 * step, 2) for step in range(10))  # of the 2018 Data Science Bowl


def dice(found: NDArray[np.bool_], wanted: NDArray[np.bool_]) -> float:
    """Twice the common pixels over all pixels of both; 1 where both are empty."""
    both = int(found.sum()) + int(wanted.sum())
    return 2 * int((found & wanted).sum()) / both if both else 1.0


def overlaps(found: Numbers, wanted: Numbers) -> NDArray[np.float64]:
    """Intersection over union of every found instance (rows) with every wanted one (columns)."""
    names, rows = np.unique(found, return_inverse=True)
    others, columns = np.unique(wanted, return_inverse=True)
    table = np.bincount(rows.ravel() * len(others) + columns.ravel(), minlength=len(names) * len(others))
    table = table.reshape(len(names), len(others))
    union = table.sum(axis=1)[:, None] + table.sum(axis=0) - table
    shares = table / union
    result: NDArray[np.float64] = shares[names > 0][:, others > 0]
    return result


def precision(shares: NDArray[np.float64], threshold: float = HALF) -> float:
    """TP / (TP + FP + FN). Above one half an instance can have one partner only, so none has to be chosen.

    A picture without instances, in which none was found, is right.
    """
    right = int((shares > threshold).sum())
    all_ = sum(shares.shape) - right
    return right / all_ if all_ else 1.0


def score_instances(found: Sequence[Numbers], wanted: Sequence[Numbers]) -> dict[str, float | str]:
    """Mean over pictures: dice of the foreground, ap50, and ap over the thresholds from .5 to .95."""
    _check(found, wanted)
    shares = [overlaps(one, other) for one, other in zip(found, wanted, strict=True)]
    rows = {
        "dice": [dice(one > 0, other > 0) for one, other in zip(found, wanted, strict=True)],
        "ap50": [precision(share) for share in shares],
        "ap": [float(np.mean([precision(share, at) for at in THRESHOLDS])) for share in shares],
    }
    scores: dict[str, float | str] = {}
    for name, values in rows.items():
        low, high = _interval(np.array(values)[:, None])
        scores |= {name: float(np.mean(values)), f"{name}_low": float(low[0]), f"{name}_high": float(high[0])}
    counts = {"found": sum(map(len, shares)), "instances": sum(share.shape[1] for share in shares)}
    scores |= {name: float(count) for name, count in counts.items()}
    return scores | {
        "pictures": float(len(wanted)),
        "signature": "mean over pictures; AP = TP/(TP+FP+FN), IoU above .5 (ap: .5 to .95); 95 % interval by "
        f"{SAMPLES} bootstrap samples of pictures",
    }


def score_classes_of_pixels(
    found: Sequence[Numbers], wanted: Sequence[Numbers], labels: Sequence[str], void: int | None = None
) -> dict[str, float | str]:
    """mean_iou over the classes that occur, and iou_<label>, over all pixels of all pictures; pixels of `void` do not
    count.
    """
    _check(found, wanted)
    tables = np.stack([_confusion(*pair, len(labels), void) for pair in zip(found, wanted, strict=True)])
    draws = np.random.default_rng(1).multinomial(len(tables), np.full(len(tables), 1 / len(tables)), size=SAMPLES)
    whole, drawn = _ious(tables.sum(axis=0)), _ious(np.tensordot(draws, tables, axes=1))
    means = np.nanmean(drawn, axis=-1)
    low, high = np.quantile(means, (0.025, 0.975))
    scores: dict[str, float | str] = {
        "mean_iou": float(np.nanmean(whole)),
        "mean_iou_low": float(low),
        "mean_iou_high": float(high),
    }
    total = tables.sum(axis=0)
    scores["pixel_accuracy"] = float(np.trace(total) / max(1, total.sum()))
    for label, value in zip(labels, whole.tolist(), strict=True):
        if not np.isnan(value):
            scores[f"iou_{label}"] = value
    return scores | {
        "pictures": float(len(wanted)),
        "signature": f"IoU of each class over all pixels; 95 % interval by {SAMPLES} bootstrap samples of pictures",
    }


def _check(found: Sequence[Numbers], wanted: Sequence[Numbers]) -> None:
    if len(found) != len(wanted) or not wanted:
        raise ValueError(f"{len(found)} masks cannot be compared with {len(wanted)}; give as many, and at least one")


def _confusion(found: Numbers, wanted: Numbers, classes: int, void: int | None) -> NDArray[np.int64]:
    """Row: the true class; column: what was found."""
    counted = np.ones(wanted.shape, dtype=bool) if void is None else wanted != void
    codes = wanted[counted].astype(np.int64) * classes + found[counted].astype(np.int64)
    return np.bincount(codes, minlength=classes * classes).reshape(classes, classes)


def _ious(tables: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
    """Of each class; not a number for one that neither occurs nor was found. ... C C -> ... C."""
    right = np.diagonal(tables, axis1=-2, axis2=-1)
    union = tables.sum(axis=-1) + tables.sum(axis=-2) - right
    return np.where(union > 0, right / np.maximum(union, 1), np.nan)


def _interval(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of the mean of rows: N K -> K and K."""
    draws = np.random.default_rng(1).multinomial(len(values), np.full(len(values), 1 / len(values)), size=SAMPLES)
    low, high = np.quantile(draws @ values / len(values), (0.025, 0.975), axis=0)
    return low, high
