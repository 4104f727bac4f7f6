"""Which query speaks for which object: a set has no order, so the cheapest assignment is learned from.

B batch, T queries, M objects at most (padded), C classes. Boxes are centre, width and height as fractions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from clearformer.model.box_geometry import overlap, to_corners

FAR = 100.0  # what it costs a query to claim an object that it stands outside of
NEAR = 0.75  # of a cell: a small object may lie between all centres, and is within reach of its neighbours
ALPHA, GAMMA = 0.25, 2.0  # focal weights (Lin et al., 2017)


class Objects(NamedTuple):
    """What is in each picture. labels: B M, -1 is padding; boxes: B M 4."""

    labels: Tensor
    boxes: Tensor


class MatchedPairs(NamedTuple):
    """Queries and the objects that they speak for: picture, query and object of each pair."""

    pictures: Tensor
    queries: Tensor
    objects: Tensor


@dataclass(frozen=True, kw_only=True)
class CostConfig:
    """What counts when queries and objects are matched."""

    label: float = 2.0  # weight of the class
    distance: float = 5.0  # weight of the distance of the edges
    overlap: float = 2.0  # weight of the generalised intersection over union


@torch.no_grad()
def costs(said: Tensor, boxes: Tensor, centres: Tensor | None, objects: Objects, config: CostConfig) -> Tensor:
    """What each query would cost for each object: B T M. said: logits, B T C; boxes: B T 4.

    centres: T 2, the middle of each query's cell, of as many rows as columns. A query is meant for what covers its
    place: others cost so much more that they are taken only if there are not enough.
    """
    labels = objects.labels.clamp(min=0)
    p = said.float().sigmoid()
    hit = ALPHA * (1 - p) ** GAMMA * -(p + 1e-8).log() - (1 - ALPHA) * p**GAMMA * -(1 - p + 1e-8).log()
    label_cost = hit.gather(2, labels[:, None].expand(-1, said.size(1), -1))
    distance = torch.cdist(boxes.float(), objects.boxes.float(), p=1)
    _, general = overlap(to_corners(boxes.float())[:, :, None], to_corners(objects.boxes.float())[:, None])
    total = config.label * label_cost + config.distance * distance - config.overlap * general
    if centres is not None:
        reach = (objects.boxes[:, None, :, 2:] / 2).clamp(min=NEAR * len(centres) ** -0.5)
        inside = (centres[None, :, None] - objects.boxes[:, None, :, :2]).abs() <= reach
        total = total + FAR * (~inside.all(dim=-1))
    return total


def one_to_one(cost: Tensor, counts: Sequence[int]) -> MatchedPairs:
    """Each object with a query of its own, cheapest in all (Kuhn, 1955). cost: B T M; counts: objects per picture."""
    try:
        from scipy.optimize import linear_sum_assignment
    except ImportError:
        raise ValueError("matching boxes needs scipy: pip install 'clearformer[pictures]'") from None
    rows: list[tuple[int, int, int]] = []
    for picture, (one, count) in enumerate(zip(cost.cpu().numpy(), counts, strict=True)):
        queries, objects = linear_sum_assignment(one[:, :count])
        rows += zip([picture] * len(queries), queries.tolist(), objects.tolist(), strict=True)
    return _pairs(rows, cost.device)


def one_to_many(cost: Tensor, counts: Sequence[int], most: int) -> MatchedPairs:
    """Each object with its `most` cheapest queries; a query that several want goes to whom it costs least."""
    rows: list[Tensor] = []
    for picture, count in enumerate(counts):
        if not count:
            continue
        mine = cost[picture, :, :count]  # T M
        near = mine.topk(min(most, len(mine)), dim=0, largest=False).indices  # most M
        wanted = torch.zeros_like(mine, dtype=torch.bool).scatter_(0, near, True) & (mine < FAR / 2)
        queries = wanted.any(dim=1).nonzero()[:, 0]
        objects = mine.masked_fill(~wanted, torch.inf)[queries].argmin(dim=1)
        rows.append(torch.stack((torch.full_like(queries, picture), queries, objects)))
    if not rows:
        return _pairs([], cost.device)
    return MatchedPairs(*torch.cat(rows, dim=1))


def _pairs(rows: Sequence[tuple[int, int, int]], device: torch.device) -> MatchedPairs:
    return MatchedPairs(*torch.tensor(rows, dtype=torch.long, device=device).reshape(-1, 3).unbind(1))
