"""Attention in training with bfloat16 on a CPU: plain products for some queries at a time, forward and backward.

PyTorch's fused kernel converts bfloat16 back and forth and takes three times as long as the products themselves, which
processors with instructions for it multiply twice as fast as float32. Here the weights are stored, the gradients are
written out, and, where nobody looks ahead, a block of queries is given no key that stands behind it. The mathematics is
that of `attention.attend`: tested equal.

B batch, H heads, T queries, S keys, K head width.
"""

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

BLOCK = 64  # queries at a time: their scores stay in the processor's cache
LONGEST = 2048  # positions; beyond it the stored weights would take too much memory
FAR = -1e30  # added to a masked score; bfloat16 can hold it


def suits(q: Tensor, k: Tensor) -> bool:
    """Whether `attend_blocks` applies: gradients are wanted, in bfloat16, on a CPU, and the weights can be stored."""
    few = 1 < q.size(2) <= LONGEST and k.size(2) <= LONGEST and k.size(1) == q.size(1)
    return few and q.device.type == "cpu" and q.dtype == torch.bfloat16 and q.requires_grad and torch.is_grad_enabled()


def attend_blocks(q: Tensor, k: Tensor, v: Tensor, *, mask: Tensor | None, scale: float | None) -> Tensor:
    """What `attend` computes, without bias and dropout. q: B H T K; k, v: B H S K; returns B H T K."""
    gathered: Tensor = _Blocks.apply(q, k, v, mask, 1 / math.sqrt(q.size(-1)) if scale is None else scale)  # type: ignore[no-untyped-call]
    return gathered


class _Blocks(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, scale: float) -> Tensor:
        ctx.scale, ctx.shapes = scale, [x.shape for x in (q, k, v)]
        square = (*q.shape[:3], k.size(2))
        ctx.ends = ends = _ends(mask, square[2], square[3])
        far = None if mask is None else torch.where(mask, 0.0, FAR).to(q.dtype)
        q, k, v = (x.reshape(-1, *x.shape[2:]) for x in (q, k, v))
        gathered, kept = torch.empty_like(v[:, :1]).expand(-1, square[2], -1).contiguous(), []
        with torch.autocast("cpu", enabled=False):  # which would compute the softmax in float32, at twice the cost
            for start, stop, end in _blocks(ends, square[2]):
                scores = _product(q[:, start:stop], k[:, :end].mT, _part(far, square, start, stop, end), scale)
                weights = torch.softmax(scores, -1)
                if mask is not None and not bool(_part_of(mask, start, stop, end).any(-1).all()):
                    allowed = _part_of(mask, start, stop, end).expand(*square[:2], stop - start, end)
                    weights = weights.masked_fill_(~allowed.reshape(weights.shape), 0.0)  # who may look nowhere
                torch.bmm(weights, v[:, :end], out=gathered[:, start:stop])
                kept.append(weights)
        ctx.save_for_backward(q, k, v, *kept)
        return gathered.view(*square[:3], -1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_gathered: Tensor) -> tuple[Tensor | None, ...]:
        q, k, v, *kept = ctx.saved_tensors
        d_gathered = d_gathered.reshape(-1, *d_gathered.shape[2:])
        d_q, d_k, d_v = torch.empty_like(q), torch.zeros_like(k), torch.zeros_like(v)
        with torch.autocast("cpu", enabled=False):
            for (start, stop, end), weights in zip(_blocks(ctx.ends, q.size(1)), kept, strict=True):
                d_out = d_gathered[:, start:stop]
                d_v[:, :end].baddbmm_(weights.mT, d_out)
                d_weights = torch.bmm(d_out, v[:, :end].mT)
                d_scores = torch._softmax_backward_data(d_weights, weights, -1, weights.dtype)  # zero where weights are
                d_q[:, start:stop] = torch.bmm(d_scores, k[:, :end])
                d_k[:, :end].baddbmm_(d_scores.mT, q[:, start:stop], alpha=ctx.scale)
        d_q.mul_(ctx.scale)
        return (*[x.view(shape) for x, shape in zip((d_q, d_k, d_v), ctx.shapes, strict=True)], None, None)


def _ends(mask: Tensor | None, queries: int, keys: int) -> list[int]:
    """For each block of queries, the keys that any of them may see: all, or where nobody looks ahead, those so far."""
    stops = [min(start + BLOCK, queries) for start in range(0, queries, BLOCK)]
    if mask is None or mask.size(-2) != queries or queries != keys or len(stops) == 1:
        return [keys] * len(stops)
    ahead = torch.ones(queries, keys, dtype=torch.bool, device=mask.device).triu(1)
    return [keys] * len(stops) if bool((mask & ahead).any()) else stops


def _blocks(ends: list[int], queries: int) -> Iterator[tuple[int, int, int]]:
    """First query, behind the last query, behind the last key."""
    for number, end in enumerate(ends):
        yield number * BLOCK, min((number + 1) * BLOCK, queries), end


def _part_of(mask: Tensor, start: int, stop: int, end: int) -> Tensor:
    rows = mask if mask.size(-2) == 1 else mask[..., start:stop, :]
    return rows if mask.size(-1) == 1 else rows[..., :end]


def _part(far: Tensor | None, square: tuple[int, ...], start: int, stop: int, end: int) -> Tensor | None:
    """What is added to the scores of a block: B·H block end."""
    if far is None:
        return None
    return _part_of(far, start, stop, end).expand(*square[:2], stop - start, end).reshape(-1, stop - start, end)


def _product(one: Tensor, other: Tensor, far: Tensor | None, scale: float) -> Tensor:
    """far + scale · one @ other, in a single pass."""
    if far is None:
        nothing = one.new_empty(()).expand(len(one), one.size(1), other.size(2))
        return torch.baddbmm(nothing, one, other, beta=0, alpha=scale)
    return torch.baddbmm(far, one, other, alpha=scale)
