"""The cross-entropy of a vocabulary without ever holding all its logits, and with its gradient made on the way.

The readable path (`loss.cross_entropy` on the head's logits) writes and reads N × V numbers a dozen times, hundreds of
megabytes; here a block of rows is projected, normalised, turned into the gradient and used up while it is still in
the processor's cache. The same mathematics: tested equal.

N tokens, D model width, V vocabulary.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from clearformer.training.loss import Loss, cross_entropy

BLOCK = 1 << 22  # logits at a time: 16 MB


def projected_cross_entropy(
    states: Tensor, table: Tensor, bias: Tensor | None, wanted: Tensor, smoothing: float
) -> Loss:
    """`cross_entropy(states @ tableᵀ + bias, wanted, smoothing=smoothing)`. states: N D; table: V D; wanted: N.

    In mixed precision the readable path is taken: there the products belong in one precision, the sums in another.
    """
    if states.dtype != torch.float32 or torch.is_autocast_enabled(states.device.type):
        return cross_entropy(F.linear(states, table, bias), wanted, smoothing=smoothing)
    total, nll = _ProjectedCrossEntropy.apply(states, table, bias, wanted, smoothing, torch.is_grad_enabled())  # type: ignore[no-untyped-call]
    return Loss(total, nll.detach(), wanted.numel())


class _ProjectedCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, states: Tensor, table: Tensor, bias: Tensor | None, wanted: Tensor, smoothing: float, learn: bool
    ) -> tuple[Tensor, Tensor]:
        rows = max(1, BLOCK // len(table))
        block = states.new_empty(min(rows, len(states)), len(table))
        d_states = torch.empty_like(states) if learn else None
        d_table = torch.zeros_like(table) if learn else None
        d_bias = torch.zeros_like(bias) if learn and bias is not None else None
        sums = states.new_zeros(2, dtype=torch.float64)
        for start in range(0, len(states), rows):
            x, y = states[start : start + rows], wanted[start : start + rows, None]
            logits = block[: len(x)]
            if bias is None:
                torch.mm(x, table.mT, out=logits)
            else:
                torch.addmm(bias, x, table.mT, out=logits)
            true, even, top = logits.gather(1, y)[:, 0], logits.mean(dim=1), logits.amax(dim=1)
            probs = torch.softmax(logits, dim=1, out=logits)
            log_total = top - probs.amax(dim=1).log()  # the top probability is at least 1/V: never a logarithm of zero
            nll = log_total - true
            sums[0] += ((1 - smoothing) * nll + smoothing * (log_total - even)).sum(dtype=torch.float64)
            sums[1] += nll.sum(dtype=torch.float64)
            if d_states is None or d_table is None:
                continue
            d_logits = probs.sub_(smoothing / len(table)) if smoothing else probs
            d_logits.scatter_add_(1, y, y.new_full(y.shape, smoothing - 1, dtype=states.dtype))
            torch.mm(d_logits, table, out=d_states[start : start + rows])
            d_table.addmm_(d_logits.mT, x)
            if d_bias is not None:
                d_bias += d_logits.sum(dim=0)
        ctx.gradients = d_states, d_table, d_bias
        total, nll_sum = sums.to(states.dtype).unbind()
        ctx.mark_non_differentiable(nll_sum)
        return total.clone(), nll_sum.clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_total: Tensor, d_nll: Tensor) -> tuple[Tensor | None, ...]:
        scaled = (None if gradient is None else gradient.mul_(d_total) for gradient in ctx.gradients)
        return (*scaled, None, None, None)
