"""Integrated gradients: how much each token adds to a logit on the straight way from a baseline to the text
(Sundararajan et al., 2017, section 3).

T tokens, D embedding width, N points on the path. The gradient of the logit with respect to the tokens' vectors is
averaged along the path and multiplied by the way itself. The sums over all tokens are then the difference of the logit
between both ends ("completeness"): that can be checked, and is.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

POINT_TOKENS = 2048  # tokens of all points that are computed together: their activations are kept for the way back


class TracedRow(NamedTuple):
    """One input of a model. tokens, keep: 1 T; extra: what else it is given, such as types, 1 T each."""

    tokens: Tensor
    keep: Tensor
    extra: Mapping[str, Tensor]


class PathScores(NamedTuple):
    """scores: of each token, T. logit, baseline_logit: at both ends of the path."""

    scores: Tensor
    logit: float
    baseline_logit: float


def integrated_gradients(
    model: nn.Module,
    row: TracedRow,
    start: Tensor,
    logit_of: Callable[[Tensor], Tensor],
    *,
    steps: int = 64,
    batch: int = 32,
) -> PathScores:
    """Follow the path in `steps` points. start: T D, the vectors at its beginning; a token whose vector does not change
    scores exactly zero. logit_of: from the model's output for N rows to one number each.

    The points are those of Gauss and Legendre: for smooth functions far fewer are needed than with even spacing.
    """
    table: nn.Module = embedding_of(model)
    with torch.inference_mode(False), torch.no_grad():
        end: Tensor = table(row.tokens)[0]
        way = end - start
        nodes, weights = np.polynomial.legendre.leggauss(steps)
        shares = torch.tensor((nodes + 1) / 2, dtype=end.dtype)
        parts = torch.tensor(weights / 2)
        at_once = max(1, min(batch, POINT_TOKENS // row.tokens.size(1)))
        mean = torch.zeros_like(end, dtype=torch.float64)  # of the gradient
        for first in range(0, steps, at_once):
            group = slice(first, first + at_once)
            points = start + shares[group, None, None] * way  # N T D
            mean += (parts[group, None, None] * _gradient(model, table, row, points, logit_of)).sum(dim=0)
        ends = [float(logit_of(_run(model, table, row, vectors[None]))) for vectors in (end, start)]
    return PathScores((mean * way.double()).sum(dim=-1), *ends)


def embedding_of(model: nn.Module) -> nn.Embedding:
    """The table that turns tokens into vectors, in the model's only stack."""
    stack = getattr(model, "encoder", None) or model.decoder
    table: nn.Embedding = stack.front.embed  # type: ignore[union-attr, assignment]
    return table


def _gradient(
    model: nn.Module, table: nn.Module, row: TracedRow, points: Tensor, logit_of: Callable[[Tensor], Tensor]
) -> Tensor:
    with torch.enable_grad():
        points = points.detach().requires_grad_()
        logits = logit_of(_run(model, table, row, points))
        [gradient] = torch.autograd.grad(logits.sum(), points)
    return gradient.double()


def _run(model: nn.Module, table: nn.Module, row: TracedRow, vectors: Tensor) -> Tensor:
    """What the model says where its tokens have these vectors: N T D."""
    count = len(vectors)
    extra = {name: value.expand(count, -1) for name, value in row.extra.items()}
    with _instead(table, vectors):
        output: Tensor = model(row.tokens.expand(count, -1), keep=row.keep.expand(count, -1), **extra)
    return output


@contextmanager
def _instead(table: nn.Module, vectors: Tensor) -> Iterator[None]:
    """Let the table give these vectors, to this thread alone: others may use the model at the same time."""
    mine = threading.get_ident()

    def give(module: nn.Module, given: tuple[Tensor, ...], output: Tensor) -> Tensor | None:
        return vectors if threading.get_ident() == mine else None

    handle = table.register_forward_hook(give)
    try:
        yield
    finally:
        handle.remove()
