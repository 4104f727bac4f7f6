"""The last layer of each task: what a stack's states are turned into.

B batch, T length, D model width, V vocabulary, C classes. Every head takes (states: B T D, keep: B T or None).
"""

from collections.abc import Callable
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from clearformer.model.dropout import Dropout
from clearformer.model.frontends import unpatchify


class States(nn.Module):
    """No task: the states themselves, or BERT's pooled first state if there is a pooler."""

    def __init__(self, dim: int, *, pooler: bool = False) -> None:
        super().__init__()
        self.pooler = nn.Linear(dim, dim) if pooler else None

    def forward(self, states: Tensor, keep: Tensor | None = None) -> Tensor:
        return states

    def pool(self, states: Tensor, keep: Tensor | None = None) -> Tensor:
        """BERT's summary of an input. B T D -> B D."""
        if self.pooler is None:
            raise ValueError("this model has no pooler; build it with head.pooler")
        return torch.tanh(self.pooler(_first(states, keep)))


class LanguageModel(nn.Module):
    """A score for every token of the vocabulary; the table may be the embedding's own (Press and Wolf, 2017)."""

    def __init__(
        self,
        dim: int,
        vocab_size: int,
        *,
        table: Tensor | None = None,
        bias: bool = False,
        transform: nn.Module | None = None,
        scale: float = 1.0,
    ) -> None:
        super().__init__()
        self.transform = transform if transform is not None else nn.Identity()
        self.table = nn.Parameter(torch.empty(vocab_size, dim)) if table is None else table
        self.bias = nn.Parameter(torch.zeros(vocab_size)) if bias else None
        self.scale = scale

    def forward(self, states: Tensor, keep: Tensor | None = None) -> Tensor:
        """Returns logits B T V."""
        return F.linear(*self.projection(states))

    def projection(self, states: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        """The operands of the last product, for a loss that computes it block by block."""
        return self.transform(states) * self.scale, self.table, self.bias


class SequenceClass(nn.Module):
    """One class for the whole input. Returns logits B C."""

    def __init__(
        self,
        dim: int,
        classes: int,
        *,
        pool: Literal["first", "last", "mean"] = "first",
        pooler: bool = False,
        activation: Callable[[Tensor], Tensor] = torch.tanh,
        bias: bool = True,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.pooler, self.activation = nn.Linear(dim, dim) if pooler else None, activation
        self.pool: Callable[[Tensor, Tensor | None], Tensor] = {"first": _first, "last": _last, "mean": _mean}[pool]
        self.dropout = Dropout(dropout)
        self.classify = nn.Linear(dim, classes, bias=bias)

    def forward(self, states: Tensor, keep: Tensor | None = None) -> Tensor:
        summary = self.pool(states, keep)
        if self.pooler is not None:
            summary = self.activation(self.pooler(summary))
        logits: Tensor = self.classify(self.dropout(summary))
        return logits


class TokenTags(nn.Module):
    """A class for each token. Returns logits B T C."""

    def __init__(self, dim: int, classes: int, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)
        self.classify = nn.Linear(dim, classes)

    def forward(self, states: Tensor, keep: Tensor | None = None) -> Tensor:
        logits: Tensor = self.classify(self.dropout(states))
        return logits


class AnswerSpan(nn.Module):
    """Where an answer begins and ends. Returns logits B T 2; padding is never chosen."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.mark = nn.Linear(dim, 2)

    def forward(self, states: Tensor, keep: Tensor | None = None) -> Tensor:
        logits: Tensor = self.mark(states)
        return logits if keep is None else logits.masked_fill(~keep[..., None], torch.finfo(logits.dtype).min)


class Boxes(nn.Module):
    """A box and a class for each state (a token, or a query), with one extra class for "nothing here"
    (Carion et al., 2020).

    Returns B T (C + 1 + 4): class logits, then centre x, centre y, width and height as fractions of the picture.
    """

    def __init__(self, dim: int, classes: int) -> None:
        super().__init__()
        self.classify = nn.Linear(dim, classes + 1)
        self.locate = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, 4))

    def forward(self, states: Tensor, keep: Tensor | None = None) -> Tensor:
        return torch.cat((self.classify(states), self.locate(states).sigmoid()), dim=-1)


class Pixels(nn.Module):
    """Values for every pixel from the states of a picture's patches: colours, or, with one channel per class, a mask.

    The first state is the class token and is left out. Returns B channels Y X.
    """

    def __init__(self, dim: int, *, channels: int, picture: int, patch: int) -> None:
        super().__init__()
        self.picture, self.patch = picture, patch
        self.paint = nn.Linear(dim, channels * patch * patch)

    def forward(self, states: Tensor, keep: Tensor | None = None) -> Tensor:
        return unpatchify(self.paint(states[:, 1:]), self.patch, self.picture, self.picture)


def _first(states: Tensor, keep: Tensor | None) -> Tensor:
    if keep is None:
        return states[:, 0]
    first = keep.int().argmax(dim=1)  # the first real token: padding may stand to its left
    return states[torch.arange(states.size(0), device=states.device), first]


def _last(states: Tensor, keep: Tensor | None) -> Tensor:
    if keep is None:
        return states[:, -1]
    last = keep.size(1) - 1 - keep.flip(1).int().argmax(dim=1)  # the last real token: padding may stand to its right
    return states[torch.arange(states.size(0), device=states.device), last]


def _mean(states: Tensor, keep: Tensor | None) -> Tensor:
    if keep is None:
        return states.mean(dim=1)
    real = keep[..., None].to(states.dtype)
    return (states * real).sum(dim=1) / real.sum(dim=1).clamp(min=1)
