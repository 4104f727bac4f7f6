"""Two pictures as one, and their classes in the same shares: between two examples, a network should not jump.

Mixup lays one over the other (Zhang et al., 2018); cutmix puts a rectangle of one into the other (Yun et al., 2019).
N pictures, C channels, Y X height and width.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from clearformer.data.augment import rectangle


@dataclass(frozen=True, kw_only=True)
class Mixing:
    """How much is mixed: the parameter of a beta distribution, 0 for never; larger is nearer to half and half."""

    mixup: float = 0.0
    cutmix: float = 0.0  # with both, one of them for each picture

    def __post_init__(self) -> None:
        for name in ("mixup", "cutmix"):
            if not 0 <= getattr(self, name) <= 100:
                raise ValueError(f"{name} is from 0 to 100, not {getattr(self, name)}")

    @property
    def any(self) -> bool:
        """Whether there is anything to do."""
        return self != Mixing()


class Mixed(NamedTuple):
    """pictures: N C Y X; other: N, which picture each was mixed with; share: N, how much of it is its own."""

    pictures: Tensor
    other: Tensor
    share: Tensor


def mix(x: Tensor, mixing: Mixing, random: np.random.Generator) -> Mixed:
    """Each picture with another one of the batch, in a share of its own."""
    count, _, height, width = x.shape
    other = torch.from_numpy(random.permutation(count))
    cut = np.full(count, not mixing.mixup) | ((random.random(count) < 0.5) & bool(mixing.cutmix))
    by_mixup, by_cutmix = (random.beta(alpha or 1.0, alpha or 1.0, count) for alpha in (mixing.mixup, mixing.cutmix))
    place, square = random.random((2, count)), np.ones(count)
    inside = rectangle(height, width, np.where(cut, 1 - by_cutmix, 0.0), square, place)  # of the other picture
    # What is seen of each picture decides, not what was drawn: a rectangle may reach beyond the edge.
    kept = np.where(cut, 1 - inside.mean(axis=(1, 2)), by_mixup)
    share = torch.from_numpy(kept).to(x.dtype)
    weight = torch.where(
        torch.from_numpy(cut)[:, None, None], torch.from_numpy(~inside).to(x.dtype), share[:, None, None]
    )[:, None]
    return Mixed(weight * x + (1 - weight) * x[other], other, share)
