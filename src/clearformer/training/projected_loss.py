"""Losses over a vocabulary without ever holding all its logits, and with their gradients made on the way.

The readable path (`loss.cross_entropy` on the head's logits) writes and reads N × V numbers a dozen times, hundreds of
megabytes; here a block of rows is projected, normalised, turned into the gradient and used up while it is still in
the processor's cache. The same mathematics: tested equal.

N tokens, D model width, V vocabulary.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from clearformer.training.loss import Loss, cross_entropy, r_drop

BLOCK = 1 << 22  # logits at a time: 16 MB
MIXED_BLOCK = 1 << 21  # the same in mixed precision
HELD = 1 << 26  # gradients of logits that wait for one product, in mixed precision: 128 MB
SURE = 60.0  # a negative logarithm up to here is exact: smaller probabilities lose digits in float32


def projected_cross_entropy(
    states: Tensor, table: Tensor, bias: Tensor | None, wanted: Tensor, smoothing: float
) -> Loss:
    """`cross_entropy(states @ tableᵀ + bias, wanted, smoothing=smoothing)`. states: N D; table: V D; wanted: N.

    In mixed precision the products are made in bfloat16 and the sums in float32, as the readable path makes them.
    """
    kind = states.device.type
    mixed = torch.is_autocast_enabled(kind)
    if torch.get_autocast_dtype(kind) != torch.bfloat16 if mixed else states.dtype != torch.float32:
        return cross_entropy(F.linear(states, table, bias), wanted, smoothing=smoothing)
    made = _MixedCrossEntropy if mixed else _ProjectedCrossEntropy
    total, nll = made.apply(states, table, bias, wanted, smoothing, torch.is_grad_enabled())  # type: ignore[no-untyped-call]
    return Loss(total, wanted.numel(), {"nll": nll.detach()})


def projected_r_drop(
    first: Tensor, second: Tensor, table: Tensor, bias: Tensor | None, wanted: Tensor, smoothing: float, weight: float
) -> Loss:
    """`r_drop` of the logits of two passes. first, second: N D."""
    if first.dtype != torch.float32 or torch.is_autocast_enabled(first.device.type):
        one, two = (F.linear(states, table, bias) for states in (first, second))
        return r_drop(one, two, wanted, smoothing=smoothing, weight=weight)
    chosen = _RDropChoices(smoothing, weight, torch.is_grad_enabled())
    total, nll = _ProjectedRDrop.apply(first, second, table, bias, wanted, chosen)  # type: ignore[no-untyped-call]
    return Loss(total, wanted.numel(), {"nll": nll.detach()})


class _WithGradients(torch.autograd.Function):
    """A loss whose forward pass has made the gradients already: first those of its tensors, then its settings' None."""

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_total: Tensor, d_nll: Tensor) -> tuple[Tensor | None, ...]:
        scaled = [None if gradient is None else gradient.mul_(d_total) for gradient in ctx.gradients]
        return (*scaled, *[None] * (len(ctx.needs_input_grad) - len(scaled)))


class _ProjectedCrossEntropy(_WithGradients):
    @staticmethod
    def forward(
        ctx: Any, states: Tensor, table: Tensor, bias: Tensor | None, wanted: Tensor, smoothing: float, learn: bool
    ) -> tuple[Tensor, Tensor]:
        rows = max(1, BLOCK // len(table))
        block = states.new_empty(min(rows, len(states)), len(table))
        d_states = torch.empty_like(states) if learn else None
        d_table = torch.zeros_like(table) if learn else None
        d_bias = torch.zeros_like(bias) if learn and bias is not None else None
        nll_sum, true_sum = 0.0, 0.0
        for start in range(0, len(states), rows):
            x, y = states[start : start + rows], wanted[start : start + rows, None]
            logits = block[: len(x)]
            if bias is None:
                torch.mm(x, table.mT, out=logits)
            else:
                torch.addmm(bias, x, table.mT, out=logits)
            true = logits.gather(1, y)[:, 0]
            probs = torch.softmax(logits, dim=1, out=logits)
            nll = -probs.gather(1, y)[:, 0].log()
            if (lost := nll > SURE).any():  # so unlikely that the probability has no digits left, or none at all
                nll[lost] = F.linear(x[lost], table, bias).logsumexp(dim=1) - true[lost]
            nll_sum += float(nll.sum(dtype=torch.float64))
            true_sum += float(true.sum(dtype=torch.float64))
            if d_states is None or d_table is None:
                continue
            d_logits = probs.scatter_add_(1, y, y.new_full(y.shape, smoothing - 1, dtype=states.dtype))
            torch.mm(d_logits, table, out=d_states[start : start + rows])
            d_table.addmm_(d_logits.mT, x)
            if d_bias is not None:
                d_bias += d_logits.sum(dim=0)
        # The even part of a smoothed target is the same for every word: its share needs no pass over the logits.
        even, heap = smoothing / len(table), states.sum(dim=0)
        logit_sum = float(heap.double() @ table.sum(dim=0, dtype=torch.float64))
        if bias is not None:
            logit_sum += len(states) * float(bias.sum(dtype=torch.float64))
        if d_states is not None and d_table is not None:
            d_states -= even * table.sum(dim=0)
            d_table -= even * heap
        if d_bias is not None:
            d_bias -= even * len(states)
        ctx.gradients = d_states, d_table, d_bias
        total = states.new_tensor(nll_sum + smoothing * true_sum - even * logit_sum)
        nll_total = states.new_tensor(nll_sum)
        ctx.mark_non_differentiable(nll_total)
        return total, nll_total


class _MixedCrossEntropy(_WithGradients):
    """Softmax and gradient block by block in float32. The gradient is kept in bfloat16 for one large product with the
    table, because a product per block would add up the whole table's gradient each time."""

    @staticmethod
    def forward(
        ctx: Any, states: Tensor, table: Tensor, bias: Tensor | None, wanted: Tensor, smoothing: float, learn: bool
    ) -> tuple[Tensor, Tensor]:
        ctx.gradients = None, None, None
        total, nll = 0.0, 0.0
        with torch.autocast(states.device.type, enabled=False):
            x, t = states.to(torch.bfloat16), table.to(torch.bfloat16)
            offset = None if bias is None else bias.to(torch.bfloat16)
            d_states, d_table = torch.empty_like(states), torch.zeros_like(table)
            d_bias = None if bias is None else torch.zeros_like(bias)
            held = x.new_empty(min(len(x), max(1, HELD // len(t))), len(t))
            for start in range(0, len(x), len(held)):
                here = slice(start, start + len(held))
                d_logits = held[: len(x[here])]
                for sums in _mixed_blocks(x[here], t, offset, wanted[here], smoothing, d_logits):
                    total, nll = total + sums[0], nll + sums[1]
                if not learn:
                    continue
                d_states[here] = d_logits @ t
                d_table += d_logits.mT @ x[here]
                if d_bias is not None:
                    d_bias += d_logits.sum(dim=0, dtype=torch.float32)
            if learn:
                ctx.gradients = d_states, d_table, d_bias
        nll_total = wanted.new_tensor(nll, dtype=torch.float32)
        ctx.mark_non_differentiable(nll_total)
        return wanted.new_tensor(total, dtype=torch.float32), nll_total


def _mixed_blocks(
    x: Tensor, table: Tensor, bias: Tensor | None, wanted: Tensor, smoothing: float, d_logits: Tensor
) -> Iterator[tuple[float, float]]:
    """The loss and the negative log-likelihood of each block of rows; what they want of the logits goes to d_logits."""
    rows = max(1, MIXED_BLOCK // len(table))
    for start in range(0, len(x), rows):
        y = wanted[start : start + rows, None]
        log_probs = F.linear(x[start : start + rows], table, bias).float().log_softmax(dim=1)
        nll = -float(log_probs.gather(1, y).sum(dtype=torch.float64))
        even = -float(log_probs.mean(dim=1).sum(dtype=torch.float64)) if smoothing else 0.0
        pull = log_probs.exp_()
        if smoothing:
            pull -= smoothing / len(table)
        d_logits[start : start + rows] = pull.scatter_add_(1, y, pull.new_full(y.shape, smoothing - 1))
        yield (1 - smoothing) * nll + smoothing * even, nll


class _RDropChoices(NamedTuple):
    """How R-Drop is weighted, and whether gradients are wanted."""

    smoothing: float
    weight: float
    learn: bool


class _ProjectedRDrop(_WithGradients):
    """With p and q the two passes' probabilities and d = log p - log q, a row's divergence is ½ Σ (p - q) d, and its
    gradient for the first pass's logits is ½ (p (d - Σ p d) + p - q); for the second pass everything changes sides."""

    @staticmethod
    def forward(
        ctx: Any,
        first: Tensor,
        second: Tensor,
        table: Tensor,
        bias: Tensor | None,
        wanted: Tensor,
        chosen: _RDropChoices,
    ) -> tuple[Tensor, Tensor]:
        smoothing, weight, learn = chosen
        rows = max(1, BLOCK // (4 * len(table)))
        passes = (first, second)
        d_passes = [torch.empty_like(states) for states in passes] if learn else []
        d_table = torch.zeros_like(table) if learn else None
        d_bias = torch.zeros_like(bias) if learn and bias is not None else None
        sums = first.new_zeros(2, dtype=torch.float64)
        for start in range(0, len(first), rows):
            here = slice(start, start + rows)
            y = wanted[here, None]
            log_probs = [F.linear(states[here], table, bias).log_softmax(dim=1) for states in passes]
            difference = log_probs[0] - log_probs[1]
            nll, even = first.new_zeros(2, dtype=torch.float64)
            for one in log_probs:
                nll = nll - one.gather(1, y).sum(dtype=torch.float64)
                even = even - one.mean(dim=1).sum(dtype=torch.float64)
            probs = [one.exp_() for one in log_probs]
            leaning = [(one * difference).sum(dim=1, keepdim=True) for one in probs]  # Σ p d and Σ q d
            divergence = 0.5 * (leaning[0] - leaning[1]).sum(dtype=torch.float64)
            sums[0] += 0.5 * ((1 - smoothing) * nll + smoothing * even + weight * divergence)
            sums[1] += 0.5 * nll
            if d_table is None:
                continue
            pull = probs[0] - probs[1]
            for number, sign in ((0, 1.0), (1, -1.0)):
                turned = chosen._replace(weight=sign * weight)  # for the second pass d and p - q change sides
                d_logits = _r_drop_gradient(probs[number], difference - leaning[number], pull, y, turned)
                torch.mm(d_logits, table, out=d_passes[number][here])
                d_table.addmm_(d_logits.mT, passes[number][here])
                if d_bias is not None:
                    d_bias += d_logits.sum(dim=0)
        ctx.gradients = (*d_passes, d_table, d_bias) if learn else (None,) * 4
        total, nll_sum = sums.to(first.dtype).unbind()
        ctx.mark_non_differentiable(nll_sum)
        return total.clone(), nll_sum.clone()


def _r_drop_gradient(probs: Tensor, apart: Tensor, pull: Tensor, wanted: Tensor, chosen: _RDropChoices) -> Tensor:
    """¼ weight (p (d - Σ p d) + p - q) + ½ (p - smoothed target), of one pass's logits.

    probs: p; apart: d - Σ p d, used up; pull: p - q; each rows × V. wanted: rows × 1.
    """
    d_logits = apart.mul_(0.5 * chosen.weight).add_(1.0).mul_(probs).add_(pull, alpha=0.5 * chosen.weight)
    d_logits.sub_(chosen.smoothing / probs.size(1))
    d_logits.scatter_add_(1, wanted, wanted.new_full(wanted.shape, chosen.smoothing - 1, dtype=probs.dtype))
    return d_logits.mul_(0.5)
