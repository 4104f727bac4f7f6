"""The hypotheses in the beam and the candidates that continue them, as tensors over all sentences.

Shape letters: N sentences still being searched, W hypotheses in each beam, C candidates of a sentence, T tokens so far,
R = N * W rows of the model, k offers of each hypothesis.
"""

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Beam:
    """The unfinished hypotheses of every sentence; a total of minus infinity marks an empty slot."""

    sentences: Tensor  # N, places in the batch
    totals: Tensor  # N W
    tokens: Tensor  # N W T
    token_log_probs: Tensor  # N W T

    @classmethod
    def start(cls, sentences: int) -> "Beam":
        """One empty hypothesis per sentence: the first step already widens the beam, so nothing is computed K times."""
        return cls(
            sentences=torch.arange(sentences),
            totals=torch.zeros(sentences, 1, dtype=torch.float64),
            tokens=torch.empty(sentences, 1, 0, dtype=torch.int64),
            token_log_probs=torch.empty(sentences, 1, 0, dtype=torch.float64),
        )

    @property
    def width(self) -> int:
        return self.totals.size(1)

    @property
    def step(self) -> int:
        return self.tokens.size(2)

    def grow(self, candidates: "Candidates", kept: Tensor, ends: Tensor) -> "Beam":
        """The beam made of these candidates (N W')."""
        slots = candidates.slots.gather(1, kept).unsqueeze(-1).expand(-1, -1, self.step)
        token = candidates.tokens.gather(1, kept).unsqueeze(-1)
        log_prob = candidates.log_probs.gather(1, kept).unsqueeze(-1)
        return Beam(
            sentences=self.sentences,
            totals=candidates.totals.gather(1, kept).masked_fill(ends.gather(1, kept), -torch.inf),
            tokens=torch.cat([self.tokens.gather(1, slots), token], dim=-1),
            token_log_probs=torch.cat([self.token_log_probs.gather(1, slots), log_prob], dim=-1),
        )

    def select(self, places: Tensor) -> "Beam":
        """These sentences, in this order."""
        return Beam(self.sentences[places], self.totals[places], self.tokens[places], self.token_log_probs[places])


@dataclass(frozen=True)
class Candidates:
    """All offers of a step, best total first: N C each."""

    totals: Tensor
    slots: Tensor  # which hypothesis of the beam each one continues
    tokens: Tensor
    log_probs: Tensor


def rank(beam: Beam, log_probs: Tensor, tokens: Tensor) -> Candidates:
    """Rank the continuations that every hypothesis offers (R k each) within their sentence."""
    sentences, offers = len(beam.sentences), log_probs.size(-1)
    log_probs = log_probs.cpu().double().reshape(sentences, -1)  # N W*k
    tokens = tokens.cpu().reshape(sentences, -1)
    totals = beam.totals.repeat_interleave(offers, dim=1) + log_probs
    # Slots are in order already; two stable sorts, the less important key first, break ties.
    by_token = tokens.sort(dim=1, stable=True).indices
    by_total = totals.gather(1, by_token).sort(dim=1, descending=True, stable=True).indices
    order = by_token.gather(1, by_total)
    return Candidates(totals.gather(1, order), order // offers, tokens.gather(1, order), log_probs.gather(1, order))
