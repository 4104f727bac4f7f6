"""Several models that decide together: each reads the source, and the next token's probability is the mean of theirs.

Their mistakes differ, so the mean is wrong less often than any of them. It costs as much as running
all of them.
"""

from collections.abc import Sequence
from typing import Any, Self

import torch
from torch import Tensor

from clearformer.decoding.protocol import DecodingState, Stepper


class EnsembleState:
    """What each member remembers."""

    def __init__(self, members: Sequence[DecodingState]) -> None:
        self.members = members

    def select(self, rows: Tensor) -> Self:
        return type(self)([member.select(rows) for member in self.members])

    def join(self, other: Self) -> Self:
        pairs = zip(self.members, other.members, strict=True)
        return type(self)([mine.join(theirs) for mine, theirs in pairs])


class Ensemble:
    """Several steppers with one vocabulary, presented to decoders as one."""

    def __init__(self, members: Sequence[Stepper[Any]]) -> None:
        self._members = members

    def start(self, source: Any) -> tuple[Tensor, EnsembleState]:
        started = [member.start(source) for member in self._members]
        return started[0][0], EnsembleState([state for _, state in started])

    def step(self, tokens: Tensor, state: EnsembleState) -> tuple[Tensor, EnsembleState]:
        taken = [member.step(tokens, own) for member, own in zip(self._members, state.members, strict=True)]
        return mean_log_probs([logits for logits, _ in taken]), EnsembleState([own for _, own in taken])


def mean_log_probs(logits: Sequence[Tensor]) -> Tensor:
    """The logarithm of the mean of the probabilities; being a logarithm of probabilities, it is logits too."""
    return torch.stack([one.log_softmax(-1) for one in logits]).logsumexp(0) - torch.tensor(float(len(logits))).log()
