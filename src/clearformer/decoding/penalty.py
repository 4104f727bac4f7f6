"""Length penalties: divisors of the total log-probability, so that long hypotheses have no disadvantage.

Every added token makes the total more negative, so an unpenalised search prefers short output. A length here counts the
scored tokens, the end token among them, unless the penalty says otherwise.
"""

import math
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor


class LengthPenalty(Protocol):
    """score = log_prob / divisor. Divisors are never negative and monotone in the length (the stop rules need that)."""

    def divisor(self, scored: int, *, ended: bool) -> float:
        """For a hypothesis with this many scored tokens, the last of which is the end token if `ended`."""
        ...


@dataclass(frozen=True)
class NoPenalty:
    """The plain log-probability."""

    def divisor(self, scored: int, *, ended: bool) -> float:
        return 1.0


@dataclass(frozen=True)
class Gnmt:
    """((5 + n) / 6) ** alpha (Wu et al., 2016, eq. 14); Vaswani et al. (2017) use alpha = 0.6."""

    alpha: float = 0.6

    def __post_init__(self) -> None:
        _check_alpha(self.alpha)

    def divisor(self, scored: int, *, ended: bool) -> float:
        return float(((5 + scored) / 6) ** self.alpha)


@dataclass(frozen=True)
class Average:
    """n ** alpha: with alpha = 1 the mean log-probability of a token."""

    alpha: float = 1.0
    count_eos: bool = True

    def __post_init__(self) -> None:
        _check_alpha(self.alpha)

    def divisor(self, scored: int, *, ended: bool) -> float:
        length = scored if self.count_eos or not ended else scored - 1
        if length == 0 and self.alpha < 0:
            return math.inf
        return float(length**self.alpha)


def penalised(log_probs: Tensor, divisor: float) -> Tensor:
    """Scores; an empty hypothesis with length 0 gets minus infinity, not a division by zero."""
    return log_probs / divisor if divisor else torch.full_like(log_probs, -torch.inf)


def _check_alpha(alpha: float) -> None:
    if not math.isfinite(alpha):
        raise ValueError(f"the length penalty's alpha is {alpha}; it must be a finite number")
