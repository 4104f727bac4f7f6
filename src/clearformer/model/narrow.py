"""Weights kept in two bytes each and computed with in float32: half the memory, and the same numbers.

A bfloat16 or float16 weight becomes float32 without loss. It is widened block by block, each small enough for the
processor's cache, so that a product reads two bytes a weight from memory instead of four, and no float32 copy stays.
Inputs, outputs, norms, softmax and angles are float32 throughout: what comes out is what the same weights in float32
would say, within the rounding of sums.

R rows, N outputs, K inputs.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

HALVES = (torch.bfloat16, torch.float16)
BLOCK = 1 << 20  # numbers that are widened at a time: four megabytes, which stay in the cache until they were used


def wide_linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`F.linear` in the type of x, whatever the weight is kept in. x: ... K; weight: N K."""
    if weight.dtype == x.dtype:
        return F.linear(x, weight, bias)
    if torch.is_grad_enabled() and (x.requires_grad or weight.requires_grad):
        return F.linear(x, weight.to(x.dtype), bias)
    y = x.new_empty(*x.shape[:-1], len(weight))
    multiply_blocks(x.reshape(-1, x.size(-1)), weight, y.view(-1, len(weight)))
    return y if bias is None else y + bias


def multiply_blocks(x: Tensor, weight: Tensor, y: Tensor) -> None:
    """Put x · weightᵀ into y. x: R K; weight: N K; y: R N, may be columns of a wider matrix."""
    rows = max(1, BLOCK // x.size(1))
    buffer = x.new_empty(min(rows, len(weight)), x.size(1))
    for start in range(0, len(weight), rows):
        some = weight[start : start + rows]
        wide, place = buffer[: len(some)].copy_(some), y[:, start : start + rows]
        if len(x) == 1:
            torch.mv(wide, x[0], out=place[0])
        else:
            torch.mm(x, wide.mT, out=place)


class NarrowLinear(nn.Linear):
    """A linear layer whose weight is kept in two bytes. It does not learn."""

    def forward(self, x: Tensor) -> Tensor:
        return wide_linear(x, self.weight, self.bias)


class NarrowEmbedding(nn.Embedding):
    """A table kept in two bytes; what is looked up is float32. It does not learn."""

    def forward(self, tokens: Tensor) -> Tensor:
        return super().forward(tokens).float()


def is_half(weight: object) -> bool:
    """Whether a weight has two bytes a number."""
    return isinstance(weight, Tensor) and weight.dtype in HALVES


def narrowed(module: nn.Module) -> nn.Module:
    """The layer that takes the place of a plain one; its weight is still to be set."""
    if isinstance(module, nn.Linear):
        sizes, bias = (module.in_features, module.out_features), module.bias is not None
        return NarrowLinear(*sizes, bias=bias, device="meta")
    assert isinstance(module, nn.Embedding)
    return NarrowEmbedding(module.num_embeddings, module.embedding_dim, device="meta")
