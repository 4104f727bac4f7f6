"""Boxes as tensors: corners, overlap, and how far apart two boxes are that do not overlap.

N and M boxes. A box is its centre, width and height, or its left, top, right and bottom edges ("corners").
"""

import torch
from torch import Tensor


def to_corners(boxes: Tensor) -> Tensor:
    """Centre, width and height to edges. … 4."""
    centre, size = boxes[..., :2], boxes[..., 2:]
    return torch.cat((centre - size / 2, centre + size / 2), dim=-1)


def from_corners(corners: Tensor) -> Tensor:
    """Edges to centre, width and height: the inverse of `to_corners`."""
    low, high = corners[..., :2], corners[..., 2:]
    return torch.cat(((low + high) / 2, high - low), dim=-1)


def area(corners: Tensor) -> Tensor:
    """Of each box; none where its edges are swapped."""
    return (corners[..., 2:] - corners[..., :2]).clamp(min=0).prod(dim=-1)


def overlap(first: Tensor, second: Tensor) -> tuple[Tensor, Tensor]:
    """Intersection over union, and its generalisation to boxes that do not meet (Rezatofighi et al., 2019), of boxes
    that stand beside one another or are broadcast. Corners: … 4.
    """
    low, high = torch.maximum(first[..., :2], second[..., :2]), torch.minimum(first[..., 2:], second[..., 2:])
    shared = area(torch.cat((low, high), dim=-1))
    union = area(first) + area(second) - shared
    around = torch.maximum(first[..., 2:], second[..., 2:]) - torch.minimum(first[..., :2], second[..., :2])
    hull = around.clamp(min=0).prod(dim=-1)
    iou = shared / union.clamp(min=1e-9)
    return iou, iou - (hull - union) / hull.clamp(min=1e-9)
