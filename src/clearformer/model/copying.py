"""Write a word of the vocabulary, or copy one of the source: a pointer beside the language model's head
(See et al., 2017).

What it points with is an attention of its own over the memory. Its keys are the memory as it is, so that nothing has to
be kept between steps, and the readable kernel is needed nowhere else for its weights.

B batch, T length, S memory length, D model width, V vocabulary.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from clearformer.model.attention_context import Memory
from clearformer.model.heads import LanguageModel
from clearformer.model.trace import note

NEVER = 1e-30  # stands for the probability of copying a token that the source does not have: its logarithm is a number


class CopyingHead(nn.Module):
    """p(w) = p(write) · p_vocabulary(w) + (1 - p(write)) · attention on the places where the source has w (eq. 9)."""

    def __init__(self, words: LanguageModel, dim: int) -> None:
        super().__init__()
        self.words = words
        self.look = nn.Linear(dim, dim, bias=False)
        self.write = nn.Linear(2 * dim, 1)

    def forward(self, states: Tensor, memory: Memory) -> Tensor:
        """states: B T D; memory: with the source's tokens. Returns log-probabilities, B T V, which are logits, too."""
        if memory.tokens is None:
            raise ValueError("a head that copies needs the source's tokens; encode the source with this model")
        weights = self.point(states, memory)  # B T S
        seen = torch.cat((states, weights @ memory.states), dim=-1)
        choice = self.write(seen).float()  # B T 1
        words = F.linear(*self.words.projection(states)).float().log_softmax(-1)
        places = memory.tokens[:, None].expand(weights.shape)
        copied = torch.zeros_like(words).scatter_add(-1, places, weights.float())
        note(self, "weights", weights)
        note(self, "write", choice.sigmoid())
        return torch.logaddexp(words + F.logsigmoid(choice), copied.clamp_min(NEVER).log() + F.logsigmoid(-choice))

    def point(self, states: Tensor, memory: Memory) -> Tensor:
        """How much each place of the source is looked at: B T S, rows sum to one, padding gets nothing."""
        scores: Tensor = self.look(states) @ memory.states.mT / math.sqrt(states.size(-1))
        if memory.keep is None:
            return scores.softmax(-1)
        keep = memory.keep[:, None]
        return scores.masked_fill(~keep, torch.finfo(scores.dtype).min).softmax(-1).masked_fill(~keep, 0.0)
