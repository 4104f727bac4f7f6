"""Which of a detector's boxes are given, as the development part has it best: a score for each class, and how much two
boxes of a class may share.

A detector that learned long enough names each object once; one of some minutes still has several patches speak for a
large object, and each of them is less sure.
"""

from collections.abc import Sequence
from dataclasses import replace

import torch

from clearformer.evaluation.box_precision import PictureBoxes
from clearformer.evaluation.box_threshold import best_threshold
from clearformer.folder.preprocessing import Outcome
from clearformer.inference.detector import without_duplicates

SHARES = (1.0, 0.7, 0.5)  # of their area that two boxes of a class may have in common, to choose from


def best_outcome(
    found: Sequence[PictureBoxes], wanted: Sequence[PictureBoxes], outcome: Outcome, *, classes: int
) -> tuple[Outcome, float]:
    """The choices with the best F1, and that F1 with one threshold for all classes. found: every box, the surest first.

    A class of which nothing is ever right has the threshold of all together.
    """
    thinned = {share: [thinned_boxes(one, share) for one in found] for share in SHARES}
    share = max(SHARES, key=lambda one: best_threshold(thinned[one], wanted)[1])  # the first of equals
    overall, f1 = best_threshold(thinned[share], wanted)
    each = []
    for label in range(classes):
        mine, true = ([only(one, label) for one in boxes] for boxes in (thinned[share], wanted))
        limit, own = best_threshold(mine, true)
        each.append(limit if own else overall)
    return replace(outcome, threshold=overall, thresholds=tuple(each), duplicates=share), f1


def thinned_boxes(one: PictureBoxes, most: float) -> PictureBoxes:
    """Without boxes that share too much with a surer one of their class."""
    labels = torch.tensor(one.labels, dtype=torch.long)
    places, _ = without_duplicates(torch.arange(len(labels)), labels, torch.from_numpy(one.boxes), most)
    return _chosen(one, places.tolist())


def only(one: PictureBoxes, label: int) -> PictureBoxes:
    """The boxes of one class."""
    return _chosen(one, [number for number, mine in enumerate(one.labels) if mine == label])


def _chosen(one: PictureBoxes, places: Sequence[int]) -> PictureBoxes:
    scores = [one.scores[number] for number in places] if len(one.scores) else ()
    return PictureBoxes(one.boxes[list(places)], [one.labels[number] for number in places], scores)
