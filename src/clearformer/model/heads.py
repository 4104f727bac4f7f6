"""The last layer of each task: what a stack's states are turned into.

B batch, T length, D model width, V vocabulary, C classes. Every head takes (states: B T D, keep: B T or None).
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from clearformer.model.dropout import Dropout
from clearformer.model.frontends import unpatchify
from clearformer.model.narrow import wide_linear
from clearformer.model.trace import note


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


class Vector(nn.Module):
    """One vector for the whole input, to be compared with others by its direction. Returns B W.

    width: by one more projection; None: as wide as the states. pool: as for a class, or `EndState`, which wants the
    tokens where others want to know which states are real.
    """

    def __init__(
        self, dim: int, width: int | None = None, *, pool: str | nn.Module = "first", bias: bool = False
    ) -> None:
        super().__init__()
        self.pool = POOLS[pool](dim) if isinstance(pool, str) else pool
        self.project = nn.Identity() if width is None else nn.Linear(dim, width, bias=bias)
        self.reads_first = pool == "first"  # and no other state
        self.reads_tokens = isinstance(pool, EndState)

    def forward(self, states: Tensor, beside: Tensor | None = None) -> Tensor:
        """beside: which states are real, B T, or the tokens, where the pool reads them."""
        vector: Tensor = self.project(self.pool(states, beside))
        note(self, "output", vector)
        return vector


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
        cap: float | None = None,
    ) -> None:
        super().__init__()
        self.transform = transform if transform is not None else nn.Identity()
        self.table = nn.Parameter(torch.empty(vocab_size, dim)) if table is None else table
        self.bias = nn.Parameter(torch.zeros(vocab_size)) if bias else None
        self.scale, self.cap = scale, cap

    def forward(self, states: Tensor, keep: Tensor | None = None) -> Tensor:
        """Returns logits B T V."""
        logits = wide_linear(self.transform(states) * self.scale, self.table, self.bias)
        return logits if self.cap is None else self.cap * torch.tanh(logits / self.cap)

    def projection(self, states: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        """The operands of the last product, for a loss that computes it block by block."""
        if self.cap is not None:
            raise ValueError("this model's logits are bent after their last product, so they are not a product alone")
        return self.transform(states) * self.scale, self.table, self.bias


class SequenceClass(nn.Module):
    """One class for the whole input. Returns logits B C."""

    def __init__(
        self,
        dim: int,
        classes: int,
        *,
        pool: str | nn.Module = "first",
        pooler: bool = False,
        activation: Callable[[Tensor], Tensor] = torch.tanh,
        transform: nn.Module | None = None,
        bias: bool = True,
        dropout: float = 0.0,
    ) -> None:
        """pool: a name of the table below, or what makes one vector of all states."""
        super().__init__()
        self.pooler, self.activation = nn.Linear(dim, dim) if pooler else None, activation
        self.transform = transform if transform is not None else nn.Identity()
        self.pool = POOLS[pool](dim) if isinstance(pool, str) else pool
        self.reads_first = pool == "first"  # and no other state
        self.dropout = Dropout(dropout)
        self.classify = nn.Linear(dim, classes, bias=bias)

    def forward(self, states: Tensor, keep: Tensor | None = None) -> Tensor:
        summary = self.pool(states, keep)
        if self.pooler is not None:
            summary = self.activation(self.pooler(summary))
        logits: Tensor = self.classify(self.dropout(self.transform(summary)))
        return logits


class TaughtClass(nn.Module):
    """One class for a picture: the mean of what two classifiers say, of the class token and of the token beside it
    that learned from a teacher (Touvron et al., 2021). Returns logits B C."""

    def __init__(self, dim: int, classes: int, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = Dropout(dropout)
        self.classify, self.classify_taught = nn.Linear(dim, classes), nn.Linear(dim, classes)

    def forward(self, states: Tensor, keep: Tensor | None = None) -> Tensor:
        own: Tensor = self.classify(self.dropout(states[:, 0]))
        taught: Tensor = self.classify_taught(self.dropout(states[:, 1]))
        return (own + taught) / 2


class TokenTags(nn.Module):
    """A class for each token. Returns logits B T C."""

    def __init__(self, dim: int, classes: int, *, transform: nn.Module | None = None, dropout: float = 0.0) -> None:
        super().__init__()
        self.transform = transform if transform is not None else nn.Identity()
        self.dropout = Dropout(dropout)
        self.classify = nn.Linear(dim, classes)

    def forward(self, states: Tensor, keep: Tensor | None = None) -> Tensor:
        logits: Tensor = self.classify(self.dropout(self.transform(states)))
        return logits


class AnswerSpan(nn.Module):
    """Where an answer begins and ends. Returns logits B T 2; padding is never chosen."""

    def __init__(self, dim: int, *, transform: nn.Module | None = None) -> None:
        super().__init__()
        self.transform = transform if transform is not None else nn.Identity()
        self.mark = nn.Linear(dim, 2)

    def forward(self, states: Tensor, keep: Tensor | None = None) -> Tensor:
        logits: Tensor = self.mark(self.transform(states))
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

    Where the first state is the class token, it is left out. Returns B channels Y X.
    """

    def __init__(self, dim: int, *, channels: int, picture: int, patch: int, class_token: bool = True) -> None:
        super().__init__()
        self.picture, self.patch, self.start = picture, patch, int(class_token)
        self.paint = nn.Linear(dim, channels * patch * patch)

    def forward(self, states: Tensor, keep: Tensor | None = None) -> Tensor:
        return unpatchify(self.paint(states[:, self.start :]), self.patch, self.picture, self.picture)


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


def _slot(states: Tensor, keep: Tensor | None) -> Tensor:
    return states[:, -1]  # also where it is padding: a network that was trained so wants rows of one length


class EndState(nn.Module):
    """The state of the token that ends a text: the first `end` in its row, or the first of its highest tokens.

    CLIP's published checkpoints have the end token as the last of their vocabulary, and the first of them were read by
    the second rule. A row without the token is read at its first state, as the published program does.
    """

    def __init__(self, end: int | None = None) -> None:
        super().__init__()
        self.end = end

    def forward(self, states: Tensor, tokens: Tensor | None = None) -> Tensor:
        """states: B T D, tokens: B T -> B D."""
        if tokens is None:
            raise ValueError("the end of a text is found by its tokens, but none were given; pass them")
        found = tokens if self.end is None else (tokens == self.end).int()
        return states[torch.arange(states.size(0), device=states.device), found.argmax(dim=1)]


class WeightedMean(nn.Module):
    """A mean of the states in which each has a learned weight, by what it holds (Hassani et al., 2021)."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.weigh = nn.Linear(dim, 1)

    def forward(self, states: Tensor, keep: Tensor | None = None) -> Tensor:
        """B T D -> B D."""
        scores = self.weigh(states)
        if keep is not None:
            scores = scores.masked_fill(~keep[..., None], torch.finfo(scores.dtype).min)
        weights = scores.softmax(dim=1)
        note(self, "weights", weights[..., 0])
        mean: Tensor = (weights * states).sum(dim=1)
        return mean


POOLS: dict[str, Callable[[int], Callable[[Tensor, Tensor | None], Tensor]]] = {
    "first": lambda dim: _first,
    "last": lambda dim: _last,
    "mean": lambda dim: _mean,
    "slot": lambda dim: _slot,
    "weighted": WeightedMean,
}


class PatchMean(nn.Module):
    """The mean of the patches' states alone. start: how many states stand before them."""

    def __init__(self, start: int) -> None:
        super().__init__()
        self.start = start

    def forward(self, states: Tensor, keep: Tensor | None = None) -> Tensor:
        """B T D -> B D."""
        return states[:, self.start :].mean(dim=1)


class FirstAndPatches(PatchMean):
    """The first state beside the mean of the patches' (Oquab et al., 2023)."""

    def forward(self, states: Tensor, keep: Tensor | None = None) -> Tensor:
        """B T D -> B 2D."""
        return torch.cat((states[:, 0], super().forward(states)), dim=-1)


PATCH_POOLS: dict[str, Callable[[int], nn.Module]] = {"patches": PatchMean, "first-and-patches": FirstAndPatches}
