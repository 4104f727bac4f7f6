"""Small objects that reshape the next-token distribution before a token is chosen from it.

They act on log-probabilities (R V, float32, forbidden tokens at minus infinity) and need not keep them normalised. Each
looks at one row at a time. They decide what is chosen; the log-probabilities of a hypothesis stay the model's own.
"""

import math
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from clearformer.decoding.ranking import top


class Transform(Protocol):
    """One reshaping of the distribution."""

    def __call__(self, log_probs: Tensor, history: Tensor) -> Tensor:
        """log_probs: R V -> R V; history: R T, the tokens of each row so far, on the CPU."""
        ...


@dataclass(frozen=True)
class Temperature:
    """Below 1 sharpens the distribution, above 1 flattens it."""

    temperature: float

    def __post_init__(self) -> None:
        if not self.temperature > 0:
            raise ValueError(
                f"temperature is {self.temperature}; it must be above 0 (use greedy decoding for the limit 0)"
            )

    def __call__(self, log_probs: Tensor, history: Tensor) -> Tensor:
        return log_probs / self.temperature


@dataclass(frozen=True)
class TopK:
    """Only the k likeliest tokens; of ties, those with the lowest ids (Fan et al., 2018)."""

    k: int

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError(f"top_k is {self.k}; it must be at least 1")

    def __call__(self, log_probs: Tensor, history: Tensor) -> Tensor:
        best, index = top(log_probs, self.k)
        return torch.full_like(log_probs, -torch.inf).scatter(-1, index, best)


@dataclass(frozen=True)
class TopP:
    """The nucleus: the fewest likeliest tokens whose probabilities reach p together (Holtzman et al., 2019)."""

    p: float

    def __post_init__(self) -> None:
        if not 0 < self.p <= 1:
            raise ValueError(f"top_p is {self.p}; it must be above 0 and at most 1")

    def __call__(self, log_probs: Tensor, history: Tensor) -> Tensor:
        if self.p == 1:
            return log_probs  # float32 sums may reach 1 too early; p = 1 must keep everything
        ordered, index = log_probs.sort(dim=-1, descending=True, stable=True)
        probs = ordered.softmax(-1)
        before = probs.cumsum(-1) - probs  # the likeliest token comes first, so at least one stays
        return torch.empty_like(log_probs).scatter(-1, index, ordered.masked_fill(before >= self.p, -torch.inf))


@dataclass(frozen=True)
class MinP:
    """Only tokens that are at least `p` times as probable as the likeliest one (Nguyen et al., 2024)."""

    p: float

    def __post_init__(self) -> None:
        if not 0 < self.p <= 1:
            raise ValueError(f"min_p is {self.p}; it must be above 0 and at most 1")

    def __call__(self, log_probs: Tensor, history: Tensor) -> Tensor:
        least = log_probs.amax(-1, keepdim=True) + math.log(self.p)  # the likeliest token stays, whatever p is
        return log_probs.masked_fill(log_probs < least, -torch.inf)


@dataclass(frozen=True)
class RepetitionPenalty:
    """Multiply the log-probability of every token already chosen by `penalty`: above 1, repeating becomes rarer.

    Keskar et al. (2019) divide logits, which does the opposite to negative ones and depends on a constant that softmax
    ignores. On log-probabilities, which are never positive, one multiplication does what is meant.
    """

    penalty: float

    def __post_init__(self) -> None:
        if not self.penalty > 0:
            raise ValueError(f"repetition_penalty is {self.penalty}; it must be above 0, and 1 changes nothing")

    def __call__(self, log_probs: Tensor, history: Tensor) -> Tensor:
        said = history.to(log_probs.device)
        return log_probs.scatter(-1, said, log_probs.gather(-1, said) * self.penalty)
