"""Weights rounded to eight or four bits, as they lie in a file and in memory, and layers that use them as they are.

Eight bits: whole numbers from -127 to 127, with one scale for each row. Four bits: whole numbers from 0 to 15, two in a
byte, with a scale and a middle for each group of 32 along a row: the number q stands for (q - 8) · scale + middle.

N outputs, K inputs, G groups in a row.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from clearformer.model.narrow import BLOCK

STEPS = 127  # on each side of zero, in eight bits
GROUP = 32  # neighbours in a row that share a scale, in four bits
HIGHEST, MIDDLE = 15, 8  # in four bits


@dataclass(frozen=True)
class Int8Weight:
    """values: N K, int8; scale: N, float32."""

    values: Tensor
    scale: Tensor

    @property
    def shape(self) -> torch.Size:
        return self.values.shape

    def restored(self, rows: slice = slice(None)) -> Tensor:
        """The float32 weight that the numbers stand for."""
        return self.values[rows].float().mul_(self.scale[rows, None])


@dataclass(frozen=True)
class Int4Weight:
    """pairs: N K/2, two numbers in a byte, the first in its lower half; scale, middle: N G, bfloat16."""

    pairs: Tensor
    scale: Tensor
    middle: Tensor

    @property
    def shape(self) -> torch.Size:
        return torch.Size((len(self.pairs), 2 * self.pairs.size(1)))

    def numbers(self, rows: slice = slice(None)) -> Tensor:
        """From 0 to 15, N K, one in a byte."""
        pairs = self.pairs[rows]
        return torch.stack((pairs & 15, pairs >> 4), dim=-1).flatten(1)

    def restored(self, rows: slice = slice(None)) -> Tensor:
        """The float32 weight that the numbers stand for."""
        scale, middle = self.scale[rows].float()[..., None], self.middle[rows].float()[..., None]
        numbers = self.numbers(rows)
        groups = numbers.view(len(numbers), scale.size(1), -1).float().sub_(MIDDLE)
        restored: Tensor = groups.mul_(scale).add_(middle).flatten(1)
        return restored


Rounded = Int8Weight | Int4Weight


def to_eight(weight: Tensor) -> Int8Weight:
    """Round a weight to eight bits, each row with a scale that bfloat16 can hold. weight: N K."""
    # The kernel wants its scales in bfloat16, so the values are rounded to multiples of that and not of the exact one;
    # it may be a little smaller, and the largest value of a row then stays at 127.
    scale = (weight.abs().amax(dim=1) / STEPS).clamp_min(_SMALLEST).bfloat16().float()
    return Int8Weight((weight / scale[:, None]).round().clamp_(-STEPS, STEPS).to(torch.int8), scale)


def to_four(weight: Tensor) -> Int4Weight:
    """Round a weight to four bits. weight: N K; K divides into groups.

    From the smallest number of a group to its largest there are fifteen steps. A few narrower spans are tried, too,
    which cut off what stands alone at an end: each group takes the one whose squared error is smallest.
    """
    groups = weight.reshape(len(weight), -1, GROUP)
    low, high = groups.amin(dim=-1, keepdim=True), groups.amax(dim=-1, keepdim=True)
    best = scale = middle = torch.empty(0)
    for share in _SPANS:
        step = ((high - low) * (share / HIGHEST)).clamp_min(_SMALLEST).bfloat16().float()
        centre = ((high + low) / 2 + step / 2).bfloat16().float()
        off = (_stepped(groups, step, centre) * step + centre - groups).square().sum(dim=-1, keepdim=True)
        better = off < best if len(best) else torch.ones_like(off, dtype=torch.bool)
        best = torch.where(better, off, best) if len(best) else off
        scale = torch.where(better, step, scale) if len(scale) else step
        middle = torch.where(better, centre, middle) if len(middle) else centre
    numbers = (_stepped(groups, scale, middle) + MIDDLE).to(torch.uint8).flatten(1)
    return Int4Weight(
        numbers[:, ::2] | numbers[:, 1::2] << 4, scale.squeeze(-1).bfloat16(), middle.squeeze(-1).bfloat16()
    )


_SMALLEST = torch.finfo(torch.bfloat16).tiny
_SPANS = (1.0, 0.95, 0.9, 0.85, 0.8, 0.75)


def _stepped(groups: Tensor, scale: Tensor, middle: Tensor) -> Tensor:
    """Steps from the middle, -8 to 7."""
    return ((groups - middle) / scale).round_().clamp_(-MIDDLE, HIGHEST - MIDDLE)


def fits_four(shape: torch.Size) -> bool:
    """Whether a matrix can be kept in four bits: rows of whole groups, and as many as the kernel takes at a time."""
    return len(shape) == 2 and shape[1] % GROUP == 0 and shape[0] % 16 == 0


class RoundedLinear(nn.Module):
    """A linear layer around a rounded weight. It does not learn."""

    def __init__(self, weight: Rounded, bias: Tensor | None) -> None:
        super().__init__()
        self.out_features, self.in_features = weight.shape
        self._kind = type(weight)
        for name, part in vars(weight).items():
            self.register_parameter(name, nn.Parameter(part, requires_grad=False))
        self.bias = bias

    @property
    def kept(self) -> Rounded:
        """The weight as it was rounded."""
        return self._kind(**{name: getattr(self, name).detach() for name in self._kind.__dataclass_fields__})

    @property
    def weight(self) -> Tensor:
        """The float32 weight that it stands for."""
        return self.kept.restored()

    def forward(self, x: Tensor) -> Tensor:
        """Some rows are restored at a time, so that no whole float32 weight takes memory."""
        if torch.is_grad_enabled() and x.requires_grad:
            return F.linear(x, self.weight, self.bias)
        kept, rows = self.kept, max(1, BLOCK // self.in_features)
        starts = range(0, self.out_features, rows)
        y = torch.cat([F.linear(x, kept.restored(slice(start, start + rows))) for start in starts], dim=-1)
        return y if self.bias is None else y + self.bias
