"""What a head does, in a few numbers and one name.

Shares are means over queries of the weight that lies on a certain key. Entropy is given as a share of the largest
possible one, so that 1 means "looks everywhere alike" and 0 "looks at one place", for long and short inputs alike.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

NAMED_FROM = 0.5  # a pattern that holds more than half of the weight names the head


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """name: previous, itself, next, first, last, even, or mixed."""

    name: str
    entropy: float
    largest: float
    shares: dict[str, float]


def pattern(weights: Tensor, *, same_sequence: bool) -> Pattern:
    """weights: T S, rows that sum to one (or to nothing). same_sequence: whether "previous" means anything."""
    shares = {"first": _share(weights, 0), "last": _share(weights, weights.size(1) - 1)}
    if same_sequence:
        shares |= {"previous": _diagonal(weights, -1), "itself": _diagonal(weights, 0), "next": _diagonal(weights, 1)}
    entropy = _entropy(weights)
    best = max(shares, key=lambda name: shares[name])
    name = best if shares[best] > NAMED_FROM else "even" if entropy > 0.9 else "mixed"
    return Pattern(name=name, entropy=entropy, largest=float(weights.max()), shares=shares)


def _share(weights: Tensor, key: int) -> float:
    """Of queries that could have looked elsewhere: the first one in a masked layer has no choice."""
    free = (weights > 0).sum(-1) > 1
    return float(weights[free, key].mean()) if bool(free.any()) else 0.0


def _diagonal(weights: Tensor, offset: int) -> float:
    values = weights.diagonal(offset)
    rows = torch.arange(max(0, -offset), max(0, -offset) + len(values))
    free = (weights[rows] > 0).sum(-1) > 1
    return float(values[free].mean()) if bool(free.any()) else 0.0


def _entropy(weights: Tensor) -> float:
    spread = torch.special.entr(weights.double()).sum(-1)  # -w ln w, and 0 where w is 0
    possible = (weights > 0).sum(-1)
    free = possible > 1
    if not bool(free.any()):
        return 0.0
    return float((spread[free] / possible[free].double().log()).mean())
