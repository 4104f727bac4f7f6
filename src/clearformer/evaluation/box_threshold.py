"""From which score on boxes are worth giving: where the balance of those that are right and those that are missed is
best."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clearformer.evaluation.box_precision import PictureBoxes

HALF = 0.5  # intersection over union, from which on a box is right


def best_threshold(found: Sequence[PictureBoxes], wanted: Sequence[PictureBoxes]) -> tuple[float, float]:
    """The score with the best F1 over all classes, and that F1; a half and zero where nothing is ever right."""
    scores: list[float] = []
    right: list[bool] = []
    for mine, true in zip(found, wanted, strict=True):
        scores += mine.scores
        right += right_ones(mine, true)
    if not any(right):
        return 0.5, 0.0
    order = np.argsort(-np.array(scores), kind="stable")
    hits = np.array(right)[order].cumsum()
    f1 = 2 * hits / (np.arange(1, len(order) + 1) + sum(len(true.labels) for true in wanted))
    best = int(f1.argmax())
    return float(np.floor(np.array(scores)[order[best]] * 1000) / 1000), float(f1[best])  # at least as many are given


def right_ones(mine: PictureBoxes, true: PictureBoxes) -> list[bool]:
    """Of each box that was found: whether it has an object of its class to itself. The surest choose first."""
    free = set(range(len(true.labels)))
    right = [False] * len(mine.labels)
    for number in sorted(range(len(mine.labels)), key=lambda one: -mine.scores[one]):
        rivals = [other for other in sorted(free) if true.labels[other] == mine.labels[number]]
        if not rivals:
            continue
        shares = _overlap(mine.boxes[number], true.boxes[rivals])
        if shares.max() >= HALF:
            free.discard(rivals[int(shares.argmax())])
            right[number] = True
    return right


def _overlap(box: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = np.maximum(box[:2], others[:, :2]), np.minimum(box[2:], others[:, 2:])
    shared = (high - low).clip(0).prod(axis=1)
    areas = (others[:, 2:] - others[:, :2]).prod(axis=1) + (box[2:] - box[:2]).prod()
    result: NDArray[np.float64] = shared / np.maximum(areas - shared, 1e-9)
    return result
