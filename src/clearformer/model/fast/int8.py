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
from clearformer.model.rounded import Int8Weight, to_eight

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
        return cls.around(to_eight(weight), bias)

    @classmethod
    def around(cls, weight: Int8Weight, bias: Tensor | None) -> Product:
        """Of a weight that was rounded already; its numbers are used where they lie."""
        if weight.values.device.type != "cpu" or weight.values.numel() < SMALL or not is_available():
            return Affine.of(weight.restored(), bias)
        return cls(weight.values, weight.scale.bfloat16(), bias)

    def __call__(self, x: Tensor) -> Tensor:
        """x: R D."""
        y = torch._weight_int8pack_mm(x.bfloat16(), self.values, self.scale).to(x.dtype)
        return y if self.bias is None else y.add_(self.bias)


def is_available() -> bool:
    """Whether this PyTorch has the kernel."""
    return hasattr(torch, "_weight_int8pack_mm")
