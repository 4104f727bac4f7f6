"""Attention between short sequences in training on a CPU: plain batched products, forward and backward.

PyTorch's fused kernel is made for long sequences; for a sentence of a dozen positions it takes one and a half times as
long as the products themselves. Here the weights are stored, which is cheap for short rows, and the gradients are
written out. The same mathematics as `attention.attend`: tested equal.

B batch, H heads, T queries, S keys, K head width.
"""

import math
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

LONGEST = 32  # positions; from about here the fused kernel is as fast
FAR = torch.finfo(torch.float32).min / 2  # added to a masked score; the sum stays finite


def suits(q: Tensor, k: Tensor) -> bool:
    """Whether `attend_short` applies: gradients are wanted, rows are short, on a CPU, in float32."""
    few = 1 < q.size(2) <= LONGEST and k.size(2) <= LONGEST and k.size(1) == q.size(1)
    plain = q.device.type == "cpu" and q.dtype == torch.float32 and not torch.is_autocast_enabled("cpu")
    return few and plain and q.requires_grad and torch.is_grad_enabled()


def attend_short(q: Tensor, k: Tensor, v: Tensor, *, mask: Tensor | None, scale: float | None) -> Tensor:
    """What `attend` computes, without bias and dropout. q: B H T K; k, v: B H S K; returns B H T K."""
    gathered: Tensor = _Short.apply(q, k, v, mask, 1 / math.sqrt(q.size(-1)) if scale is None else scale)  # type: ignore[no-untyped-call]
    return gathered


class _Short(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, scale: float) -> Tensor:
        given = (q, k, v)
        ctx.scale, ctx.shapes = scale, [x.shape for x in given]
        square = (*q.shape[:3], k.size(2))
        q, k, v = (x.reshape(-1, *x.shape[2:]) for x in given)
        if mask is None:
            scores = _product(q, k.mT, scale)
        else:
            far = torch.where(mask, 0.0, FAR).expand(square).reshape(-1, *square[2:])
            scores = torch.baddbmm(far, q, k.mT, alpha=scale)
        weights = torch.softmax(scores, -1, out=scores)
        if mask is not None and not mask.any(-1).all():  # a query that may look nowhere has no weights
            weights.view(square).masked_fill_(~mask, 0.0)
        ctx.save_for_backward(q, k, v, weights)
        return torch.bmm(weights, v).view(*square[:3], -1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_gathered: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, weights = ctx.saved_tensors
        d_gathered = d_gathered.reshape(-1, *d_gathered.shape[2:])
        d_v = torch.bmm(weights.mT, d_gathered)
        d_weights = torch.bmm(d_gathered, v.mT)
        d_scores = torch._softmax_backward_data(d_weights, weights, -1, weights.dtype)  # zero where the weight is
        gradients = (_product(d_scores, k, ctx.scale), _product(d_scores.mT, q, ctx.scale), d_v)
        return (*[x.view(shape) for x, shape in zip(gradients, ctx.shapes, strict=True)], None, None)


def _product(one: Tensor, other: Tensor, scale: float) -> Tensor:
    """scale · one @ other, in a single pass."""
    nothing = one.new_empty(()).expand(len(one), one.size(1), other.size(2))
    return torch.baddbmm(nothing, one, other, beta=0, alpha=scale)
