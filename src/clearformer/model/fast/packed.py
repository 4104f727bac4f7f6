"""A built model's weights rearranged for speed: the parts of the fast encoder and decoder (`encoder.py`, `decoder.py`).

Projections of one input become one product, the scale of the scores goes into the query's weights, large weights are
packed, and norms are called as plain functions. Some of this is copied: `marks` tells when the model has changed since.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from clearformer.model.attention import Attention, attend, attend_fused
from clearformer.model.layers import Activation, FeedForward, Residual
from clearformer.model.positions import NoPosition

Function = Callable[[Tensor], Tensor]
Part = tuple[Tensor, Tensor | None]  # a weight and its bias
LARGE = 200_000  # numbers in a weight that is worth packing; calling oneDNN takes a little longer than calling MKL


@dataclass(frozen=True)
class Affine:
    """A linear layer. A large weight for few rows is packed once in oneDNN's format, where there is oneDNN: MKL repacks
    it at every call, which for few rows takes as long as the product. With oneDNN a row's bits do not depend on the
    number of rows.
    """

    weight: Tensor
    bias: Tensor | None
    packed: bool = False

    @classmethod
    def of(cls, weight: Tensor, bias: Tensor | None) -> "Affine":
        """Packed where that is faster."""
        packed = _pack(weight)
        return cls(weight, bias) if packed is None else cls(packed, bias, packed=True)

    def __call__(self, x: Tensor) -> Tensor:
        if not self.packed:
            return F.linear(x, self.weight, self.bias)
        y: Tensor = torch.ops.mkldnn._linear_pointwise(x, self.weight, self.bias, "none", [], "")
        return y


Product = Callable[[Tensor], Tensor]  # a linear layer: rows in, rows out
Make = Callable[[Tensor, Tensor | None], Product]  # `Affine.of` where rows are few, `Affine` where they are many


@dataclass(frozen=True)
class Around:
    """A residual: the norm before the sublayer, of what it adds, and after the sum, None for no norm."""

    before: Function | None
    inside: Function | None
    after: Function | None

    @classmethod
    def of(cls, residual: Residual) -> "Around":
        return cls(function(residual.before), function(residual.inside), function(residual.after))

    def enter(self, x: Tensor) -> Tensor:
        return x if self.before is None else self.before(x)

    def leave(self, x: Tensor, y: Tensor) -> Tensor:
        total = y.add_(x) if self.inside is None else self.inside(y).add_(x)
        return total if self.after is None else self.after(total)


@dataclass(frozen=True)
class FastFeedForward:
    """A feed-forward in its residual."""

    around: Around
    up: Product
    down: Product
    activation: Activation

    @classmethod
    def of(cls, ffn: nn.Module, residual: Residual, make: Make) -> "FastFeedForward":
        assert isinstance(ffn, FeedForward)
        return cls(Around.of(residual), make(*part(ffn.up_proj)), make(*part(ffn.down_proj)), ffn.activation)

    def __call__(self, x: Tensor) -> Tensor:
        """x: R D."""
        return self.around.leave(x, self.down(self.activation(self.up(self.around.enter(x)))))


@dataclass(frozen=True)
class FastGatedFeedForward:
    """A gated feed-forward in its residual; the gate and what it lets through are one product."""

    around: Around
    up: Product
    down: Product
    activation: Activation

    def __call__(self, x: Tensor) -> Tensor:
        """x: R D."""
        gate, passing = self.up(self.around.enter(x)).chunk(2, dim=-1)
        return self.around.leave(x, self.down(self.activation(gate) * passing))


def part(linear: nn.Linear, scale: float = 1.0) -> Part:
    """Weight and bias, times a scale."""
    weight, bias = linear.weight.detach(), None if linear.bias is None else linear.bias.detach()
    return (weight, bias) if scale == 1.0 else (weight * scale, None if bias is None else bias * scale)


def queries(attention: Attention) -> Part:
    """The projection of the queries, times the scale of the scores."""
    return part(attention.q_proj, score_scale(attention))


def score_scale(attention: Attention) -> float:
    """What attention multiplies its scores by."""
    return attention.heads.key_dim**-0.5 if attention.scale is None else attention.scale


def join(*parts: Part) -> Part:
    """Projections of one input as one; a missing bias becomes zeros where others have one."""
    weight = torch.cat([weight for weight, _ in parts])
    if all(bias is None for _, bias in parts):
        return weight, None
    return weight, torch.cat([weight.new_zeros(len(weight)) if bias is None else bias for weight, bias in parts])


def queries_keys_values(attention: Attention) -> Part:
    return join(queries(attention), part(attention.k_proj), part(attention.v_proj))


def is_plain(attention: Attention) -> bool:
    """As many key heads as query heads, of one width, without a position scheme."""
    heads = attention.heads
    return (
        type(attention.position) is NoPosition
        and attention.kernel in (attend, attend_fused)
        and isinstance(attention.q_norm, nn.Identity)
        and heads.kv_count == heads.count
        and heads.key_dim == heads.value_dim
    )


def function(module: nn.Module) -> Function | None:
    """A norm as a plain function, without the cost of a module call; None for the identity."""
    if isinstance(module, nn.Identity):
        return None
    if type(module) is nn.RMSNorm:
        return partial(
            torch.rms_norm, normalized_shape=list(module.normalized_shape), weight=module.weight, eps=module.eps
        )
    if type(module) is not nn.LayerNorm:
        return module
    shape = list(module.normalized_shape)
    return partial(torch.layer_norm, normalized_shape=shape, weight=module.weight, bias=module.bias, eps=module.eps)


def marks(weights: Iterable[nn.Parameter]) -> list[tuple[int, int]]:
    """Each weight's address and how often it was written to."""
    return [(weight.data_ptr(), 0 if weight.is_inference() else weight._version) for weight in weights]


def _pack(weight: Tensor) -> Tensor | None:
    """A large weight in oneDNN's format; None where it is small or there is no oneDNN."""
    fitting = weight.device.type == "cpu" and weight.dtype == torch.float32 and weight.numel() >= LARGE
    if not fitting or not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return None
    if not hasattr(torch.ops.mkldnn, "_reorder_linear_weight"):  # torch's own compiler needs it; it may disappear
        return None
    packed: Tensor = torch.ops.mkldnn._reorder_linear_weight(weight)
    return packed
