"""A linear layer with weights in eight bits: a quarter of the memory to read, which is what a step of a large decoder
waits for.

Weights are rounded once, each output with a scale of its own. What goes in and comes out is bfloat16 and is not
rounded further: activations have outliers, and eight bits for a whole row cost ten times as much of the distribution.
A row's bits do not depend on the rows beside it.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from clearformer.model.fast.packed import Affine, Product

STEPS = 127  # on each side of zero
SMALL = 10_000  # numbers in a weight below which nothing is gained


@dataclass(frozen=True)
class Int8Affine:
    """A linear layer: values in eight bits N D, the scale of each output N."""

    values: Tensor
    scale: Tensor
    bias: Tensor | None

    @classmethod
    def of(cls, weight: Tensor, bias: Tensor | None) -> Product:
        """Rounded where that gains something and there is a kernel, and otherwise as it is."""
        if weight.device.type != "cpu" or weight.numel() < SMALL or not is_available():
            return Affine.of(weight, bias)
        values, scale = rounded(weight)
        return cls(values, scale.bfloat16(), bias)

    def __call__(self, x: Tensor) -> Tensor:
        """x: R D."""
        y = torch._weight_int8pack_mm(x.bfloat16(), self.values, self.scale).to(x.dtype)
        return y if self.bias is None else y.add_(self.bias)


def rounded(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Whole numbers from -127 to 127 and the scale of each row, which bfloat16 can hold. weight: N D."""
    # The kernel wants its scales in bfloat16, so the values are rounded to multiples of that and not of the exact one;
    # it may be a little smaller, and the largest value of a row then stays at 127.
    scale = (weight.abs().amax(dim=1) / STEPS).clamp_min(torch.finfo(torch.bfloat16).tiny).bfloat16().float()
    return (weight / scale[:, None]).round().clamp_(-STEPS, STEPS).to(torch.int8), scale


def restored(values: Tensor, scale: Tensor) -> Tensor:
    """The weight that rounded numbers stand for: what `rounded` would round to the same numbers again."""
    return values.float() * scale[:, None]


def is_available() -> bool:
    """Whether this PyTorch has the kernel."""
    return hasattr(torch, "_weight_int8pack_mm")
