"""What training makes smaller: the cross-entropy of the next token, with the paper's label smoothing.

Losses are sums, with what they are sums over counted beside them: micro-batches and ranks hold different counts, so
whoever adds them up divides once.
"""

from collections.abc import Mapping
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

LEAST = 1e-7  # probability that a teacher gives to anything: of zero there is no logarithm


class Loss(NamedTuple):
    """total: what to differentiate, a sum over `count` tokens, pictures or whatever the task counts.

    metrics: further sums over the same count, to be logged as means; "nll" is the plain negative log-likelihood, from
    which perplexity is made. left: what each row of the batch leaves to the same row of the next one, if anything.
    """

    total: Tensor
    count: int  # type: ignore[assignment]  # hides a method of tuples that nobody would call
    metrics: Mapping[str, Tensor]
    left: Tensor | None = None


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


def divergence(logits: Tensor, teacher: Tensor, temperature: float) -> Tensor:
    """How far a student is from its teacher: the Kullback-Leibler divergence of softened probabilities (Hinton et al.,
    2015). logits: N C; teacher: N C, probabilities. Returns N.

    Softening makes gradients smaller by the temperature's square, which is given back.
    """
    wanted = (teacher.clamp(min=LEAST).log() / temperature).log_softmax(-1)
    said = (logits.float() / temperature).log_softmax(-1)
    return F.kl_div(said, wanted, log_target=True, reduction="none").sum(dim=-1) * temperature**2


def learned_from(people: Tensor, teacher: Tensor, given: Tensor, weight: float) -> Tensor:
    """Each example's loss by its labels and by its teacher as one: `weight` is the teacher's share where people gave a
    label, and elsewhere there is the teacher alone. All N.
    """
    share = torch.where(given, weight, 1.0)
    return (1 - share) * people + share * teacher


def perplexity(nll: float, tokens: int) -> float:
    """How many tokens the model hesitates between, on average; infinite rather than an overflow."""
    mean = nll / max(tokens, 1)
    return float(torch.tensor(mean, dtype=torch.float64).exp())
