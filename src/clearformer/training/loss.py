"""What training makes smaller: the cross-entropy of the next token, with the paper's label smoothing.

Losses are sums, with what they are sums over counted beside them: micro-batches and ranks hold different counts, so
whoever adds them up divides once.
"""

from collections.abc import Mapping
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor


class Loss(NamedTuple):
    """total: what to differentiate, a sum over `count` tokens, pictures or whatever the task counts.

    metrics: further sums over the same count, to be logged as means; "nll" is the plain negative log-likelihood, from
    which perplexity is made.
    """

    total: Tensor
    count: int  # type: ignore[assignment]  # hides a method of tuples that nobody would call
    metrics: Mapping[str, Tensor]


def cross_entropy(logits: Tensor, target: Tensor, keep: Tensor | None = None, smoothing: float = 0.0) -> Loss:
    """logits: B T V; target: B T; keep: B T, True = counts. Without keep: N V and N, all of which count.

    Smoothing mixes the true token with all others evenly (Szegedy et al., 2016; 0.1 in the 2017 paper).
    """
    rows, wanted = (logits, target) if keep is None else (logits[keep], target[keep])  # N V, N
    log_probs = F.log_softmax(rows.float(), dim=-1)
    nll = -log_probs.gather(-1, wanted[:, None]).sum()
    total = nll if smoothing == 0 else (1 - smoothing) * nll - smoothing * log_probs.mean(dim=-1).sum()
    return Loss(total, wanted.numel(), {"nll": nll.detach()})


def r_drop(
    first: Tensor, second: Tensor, target: Tensor, keep: Tensor | None = None, *, smoothing: float, weight: float
) -> Loss:
    """Two passes with different dropout should agree: their mean loss plus their divergence (Liang et al., 2021)."""
    if keep is not None:
        first, second, target = first[keep], second[keep], target[keep]
    one, two = (cross_entropy(logits, target, smoothing=smoothing) for logits in (first, second))
    p, q = F.log_softmax(first.float(), dim=-1), F.log_softmax(second.float(), dim=-1)
    divergence = 0.5 * (
        F.kl_div(q, p, log_target=True, reduction="sum") + F.kl_div(p, q, log_target=True, reduction="sum")
    )
    total = 0.5 * (one.total + two.total) + 0.5 * weight * divergence
    return Loss(total, one.count, {"nll": 0.5 * (one.metrics["nll"] + two.metrics["nll"])})


def perplexity(nll: float, tokens: int) -> float:
    """How many tokens the model hesitates between, on average; infinite rather than an overflow."""
    mean = nll / max(tokens, 1)
    return float(torch.tensor(mean, dtype=torch.float64).exp())
