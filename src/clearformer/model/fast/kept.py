"""Linear layers in the form that is fastest for the bits that their weights have: plain, halved or rounded.

Plain weights of one input become one product. Those of fewer bits stay where they lie, which may be a file, and are
multiplied one after the other: joining them would be a copy of nearly the whole model.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from clearformer.model.fast.int4 import Int4Affine
from clearformer.model.fast.int8 import Int8Affine
from clearformer.model.fast.packed import Affine, Make, Product, join, part
from clearformer.model.narrow import HALVES, NarrowLinear, wide_linear
from clearformer.model.rounded import Int8Weight, RoundedLinear


@dataclass(frozen=True)
class NarrowAffine:
    """A linear layer whose weight is in two bytes, and the product in float32."""

    weight: Tensor
    bias: Tensor | None

    def __call__(self, x: Tensor) -> Tensor:
        return wide_linear(x, self.weight, self.bias)


@dataclass(frozen=True)
class Beside:
    """Products of one input, side by side. The input of the first is scaled."""

    products: Sequence[Product]
    scale: float = 1.0

    def __call__(self, x: Tensor) -> Tensor:
        first, *others = self.products
        scaled = first(x) if self.scale == 1.0 else first(x) * self.scale
        return torch.cat((scaled, *(product(x) for product in others)), dim=-1)


def product(linears: Sequence[nn.Module], make: Make, *, scale: float = 1.0) -> Product:
    """What several linear layers make of one input, side by side. scale: of what the first one makes."""
    if not any(isinstance(linear, NarrowLinear | RoundedLinear) for linear in linears):
        first, *others = linears
        return make(*join(part(first, scale), *map(part, others)))  # type: ignore[arg-type]
    made = [_one(linear, make) for linear in linears]
    return made[0] if len(made) == 1 and scale == 1.0 else Beside(made, scale)


def table_product(weight: Tensor, bias: Tensor | None) -> Product:
    """The last product, with a table in whatever it is kept."""
    return NarrowAffine(weight, bias) if weight.dtype in HALVES else Affine.of(weight, bias)


def _one(linear: nn.Module, make: Make) -> Product:
    if isinstance(linear, RoundedLinear):
        kept, bias = linear.kept, None if linear.bias is None else linear.bias.detach()
        return Int8Affine.around(kept, bias) if isinstance(kept, Int8Weight) else Int4Affine.around(kept, bias)
    assert isinstance(linear, nn.Linear)
    weight, bias = part(linear)
    return NarrowAffine(weight, bias) if isinstance(linear, NarrowLinear) else make(weight, bias)
