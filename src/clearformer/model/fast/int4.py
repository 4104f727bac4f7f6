"""A linear layer with weights in four bits: an eighth of the memory to read in each step.

PyTorch's kernel wants the numbers in an order of its own, which differs from processor to processor, so they are laid
out when the model is first used. What goes in and comes out is bfloat16, as in eight bits.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from clearformer.model.fast.packed import Affine, Product
from clearformer.model.rounded import Int4Weight

_TILES = 1  # a setting of the kernel for graphics cards, which the one for processors ignores


@dataclass(frozen=True)
class Int4Affine:
    """A linear layer: numbers in four bits N K in the kernel's order; scales and middles G N 2, bfloat16."""

    numbers: Tensor
    scales: Tensor
    group: int
    bias: Tensor | None

    @classmethod
    def around(cls, weight: Int4Weight, bias: Tensor | None) -> Product:
        """Of a weight that was rounded already; restored where there is no kernel."""
        if weight.pairs.device.type != "cpu" or not is_available():
            return Affine.of(weight.restored(), bias)
        numbers = torch._convert_weight_to_int4pack_for_cpu(weight.numbers().int(), _TILES)
        scales = torch.stack((weight.scale, weight.middle), dim=-1).transpose(0, 1).contiguous()
        return cls(numbers, scales, weight.shape[1] // weight.scale.size(1), bias)

    def __call__(self, x: Tensor) -> Tensor:
        """x: R K."""
        multiply = torch.ops.aten._weight_int4pack_mm_for_cpu
        y: Tensor = multiply(x.bfloat16(), self.numbers, self.group, self.scales).to(x.dtype)
        return y if self.bias is None else y.add_(self.bias)


def is_available() -> bool:
    """Whether this PyTorch has the kernel."""
    return hasattr(torch, "_convert_weight_to_int4pack_for_cpu")
