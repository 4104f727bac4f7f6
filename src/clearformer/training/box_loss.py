"""The loss of a set of boxes: how sure the right queries are, how silent the others, and where the boxes lie.

B batch, T queries, M objects at most (padded), C classes.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from clearformer.model.box_geometry import overlap, to_corners
from clearformer.training.box_matching import CostConfig, MatchedPairs, Objects, costs, one_to_many, one_to_one
from clearformer.training.loss import Loss


@dataclass(frozen=True, kw_only=True)
class BoxWeights:
    """How much each part of the loss counts."""

    label: float = 2.0  # the class
    distance: float = 5.0  # the distance of the edges
    overlap: float = 2.0  # the generalised intersection over union
    gamma: float = 1.5  # how little those queries count that are right already
    helper: float = 1.0  # the helper, whose patches may share an object
    helpers: int = 6  # patches at most that share one


def box_loss(
    output: Tensor, centres: Tensor | None, objects: Objects, classes: int, weights: BoxWeights, cost: CostConfig
) -> Loss:
    """output: B T (C + 4), or twice as much with a helper's word beside it. Counted in objects."""
    width = classes + 4
    main = output[..., :width]
    counts = (objects.labels >= 0).sum(dim=1).tolist()
    one = one_to_one(costs(main[..., :classes], main[..., classes:], centres, objects, cost), counts)
    total, parts = set_loss(main[..., :classes], main[..., classes:], one, objects, weights)
    if output.size(-1) > width:
        said, boxes = output[..., width : width + classes], output[..., width + classes :]
        many = one_to_many(costs(said, boxes, centres, objects, cost), counts, weights.helpers)
        helped, _ = set_loss(said, boxes, many, objects, weights)
        share = len(one.queries) / max(1, len(many.queries))  # as if every object counted once
        total = total + weights.helper * share * helped
    return Loss(total, max(1, sum(counts)), parts)


def set_loss(
    said: Tensor, boxes: Tensor, pairs: MatchedPairs, objects: Objects, weights: BoxWeights
) -> tuple[Tensor, dict[str, Tensor]]:
    """said: B T C logits; boxes: B T 4. A sum over the objects, and its parts without their weights.

    What a matched query should say of its class is how well its box fits, so that a score ranks boxes by both; the
    further it is from that, the more it counts (Li et al., 2020).
    """
    mine = boxes[pairs.pictures, pairs.queries].float()
    true = objects.boxes[pairs.pictures, pairs.objects].float()
    iou, general = overlap(to_corners(mine), to_corners(true))
    wanted = torch.zeros_like(said, dtype=torch.float32)
    labels = objects.labels[pairs.pictures, pairs.objects]
    wanted[pairs.pictures, pairs.queries, labels] = iou.detach().clamp(0, 1)
    likely = said.float()
    focus = (likely.detach().sigmoid() - wanted).abs() ** weights.gamma
    label = (focus * F.binary_cross_entropy_with_logits(likely, wanted, reduction="none")).sum()
    distance = (mine - true).abs().sum()
    apart = (1 - general).sum()
    total = weights.label * label + weights.distance * distance + weights.overlap * apart
    parts = {"label": label, "distance": distance, "apart": apart, "iou": iou.sum()}
    return total, {name: value.detach() for name, value in parts.items()}
