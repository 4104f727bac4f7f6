"""What makes a network for masks better: every pixel's share, each picture counting the same."""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from clearformer.data.collate import UNTAGGED, Batch
from clearformer.data.mask_targets import ClassMaskBatch, InstanceBatch
from clearformer.training.loss import Loss

DOWN = 2  # the first channel of the offsets, behind foreground and rim


@dataclass(frozen=True, kw_only=True)
class MaskObjective:
    """Cross-entropy of each pixel and the overlap of the foreground; for instances, the offsets beside it."""

    overlap: float = 1.0  # weight of 1 - Dice, which does not care how little of a picture is foreground
    rim: float = 1.0  # instances: weight of the rim
    offsets: float = 1.0  # instances: weight of the offsets
    rim_weight: float = 2.0  # instances: how much more a rim's pixel counts than another one


def loss(model: nn.Module, batch: Batch, objective: MaskObjective) -> Loss:
    """Over pictures; see the two kinds."""
    if isinstance(batch, InstanceBatch):
        return _instances(model(batch.pictures).float(), batch, objective)
    assert isinstance(batch, ClassMaskBatch)
    return _classes(model(batch.pictures).float(), batch, objective)


def _instances(said: Tensor, batch: InstanceBatch, objective: MaskObjective) -> Loss:
    keep = batch.keep.float()
    foreground, rim = batch.foreground.float(), batch.rim.float()
    weights = keep * (1 + (objective.rim_weight - 1) * rim)
    parts = {
        "foreground": _mean(F.binary_cross_entropy_with_logits(said[:, 0], foreground, reduction="none"), weights),
        "overlap": 1 - _dice(said[:, 0].sigmoid() * keep, foreground * keep),
        "rim": _mean(F.binary_cross_entropy_with_logits(said[:, 1], rim, reduction="none"), keep),
        "offsets": _mean((said[:, DOWN:] - batch.offsets).abs().sum(dim=1), foreground * keep),
    }
    shares = {"foreground": 1.0, "overlap": objective.overlap, "rim": objective.rim, "offsets": objective.offsets}
    total = torch.stack([shares[name] * part for name, part in parts.items()]).sum()
    return Loss(total, len(batch), {name: part.detach().sum() for name, part in parts.items()})


def _classes(said: Tensor, batch: ClassMaskBatch, objective: MaskObjective) -> Loss:
    counted = (batch.classes != UNTAGGED).float()
    each = F.cross_entropy(said, batch.classes, ignore_index=UNTAGGED, reduction="none")
    wanted = F.one_hot(batch.classes.clamp(min=0), said.size(1)).permute(0, 3, 1, 2) * counted[:, None]
    parts = {
        "pixels": _mean(each, counted),
        "overlap": 1 - _dice(said.softmax(dim=1) * counted[:, None], wanted.float()).mean(dim=1),
    }
    total = (parts["pixels"] + objective.overlap * parts["overlap"]).sum()
    return Loss(total, len(batch), {name: part.detach().sum() for name, part in parts.items()})


def _mean(values: Tensor, weights: Tensor) -> Tensor:
    """Of each picture: B Y X -> B; 0 where nothing counts."""
    return (values * weights).sum(dim=(1, 2)) / weights.sum(dim=(1, 2)).clamp(min=1)


def _dice(found: Tensor, wanted: Tensor) -> Tensor:
    """... Y X -> ...; 1 where both are empty."""
    both = (found * wanted).sum(dim=(-2, -1))
    return (2 * both + 1) / (found.sum(dim=(-2, -1)) + wanted.sum(dim=(-2, -1)) + 1)
