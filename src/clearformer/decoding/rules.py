"""Hard rules on the next token, the same for every decoder.

Rules only ever remove choices; they never change the probability of what is left. The log-probabilities of a hypothesis
are therefore the model's own, and any other program with the same model can check them.

Shape letters: R rows, V vocabulary, T tokens chosen so far.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

FREE = -1  # in place of a forced token: the row may choose


class Constraint(Protocol):
    """A form that the whole text must have, as `constraints.token_masks` makes it."""

    def allowed(self, history: Sequence[int]) -> Tensor:
        """Which tokens may follow those of a row: V, boolean, on the CPU. The end token among them where it may end."""
        ...


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The end token and the bans. Only tokens that were generated count, forced prefixes included, prompts not."""

    eos: int
    min_len: int = 0  # tokens before the end token is allowed
    banned: tuple[int, ...] = ()
    no_repeat_ngram: int = 0  # no n tokens in a row occur twice; 0 = off
    constraint: Constraint | None = None

    def __post_init__(self) -> None:
        if self.min_len < 0:
            raise ValueError(f"min_len is {self.min_len}, but a minimum length cannot be negative")
        if self.no_repeat_ngram < 0:
            raise ValueError(
                f"no_repeat_ngram is {self.no_repeat_ngram}; give 0 to switch it off or a length of at least 1"
            )
        if self.eos in self.banned:
            raise ValueError(
                f"the end token {self.eos} is banned, so no sequence could end; use min_len to delay the end"
            )

    def check_vocabulary(self, vocab_size: int) -> None:
        """Refuse token ids that the model does not have, before they cause an index error."""
        for token in (self.eos, *self.banned):
            if not 0 <= token < vocab_size:
                raise ValueError(
                    f"token {token} of the decoding rules is outside the vocabulary of {vocab_size} tokens"
                )

    def forbid(self, scores: Tensor, history: Tensor, forced: Tensor | None) -> Tensor:
        """Set everything forbidden to minus infinity, in place. scores: R V, logits or log-probabilities.

        history: R T, on the CPU; forced: R, on the CPU, a token id or FREE; None where no row is forced. A forced token
        beats every other rule. A row that the rules leave without any token may end, whatever min_len says: every path
        can end. A constraint is not loosened for that: where it leaves nothing, nothing is left.
        """
        early, repeats = history.size(1) < self.min_len, self._repeats(history)
        end, forcing = scores[:, self.eos].clone(), _forcing(scores, forced)
        if self.banned:
            scores.index_fill_(1, torch.tensor(self.banned, device=scores.device), -torch.inf)
        if repeats.numel():
            rows, tokens = repeats.to(scores.device).unbind(1)
            scores[rows, tokens] = -torch.inf
        if early:
            scores[:, self.eos] = -torch.inf
        if bool((scores[:, self.eos] == -torch.inf).any()):  # a row that may end is not stuck
            stuck = scores.amax(-1) == -torch.inf
            scores[:, self.eos] = torch.where(stuck, end, scores[:, self.eos])
        if self.constraint is not None:
            allowed = torch.stack([self.constraint.allowed(row) for row in history.tolist()])
            scores.masked_fill_(~allowed.to(scores.device), -torch.inf)
        if forcing is not None:
            rows, tokens, said = forcing
            scores[rows] = -torch.inf
            scores[rows, tokens] = said
        return scores

    def _repeats(self, history: Tensor) -> Tensor:
        """Pairs (row, token) whose choice would repeat an n-gram: N 2."""
        n, length = self.no_repeat_ngram, history.size(1)
        if n == 0 or length < n:
            return history.new_empty(0, 2)
        # An n-gram is n - 1 tokens of context and the token after them. Every window of n - 1 tokens that equals the
        # last n - 1 forbids the token that followed it. With n = 1 the context is empty: no token is repeated.
        followers = history[:, n - 1 :]  # R W
        contexts = history[:, : length - 1].unfold(1, n - 1, 1) if n > 1 else history.new_empty(*followers.shape, 0)
        current = history[:, length - n + 1 :].unsqueeze(1)  # R 1 n-1
        rows, windows = (contexts == current).all(-1).nonzero().unbind(1)
        return torch.stack([rows, followers[rows, windows]], dim=1)


def _forcing(scores: Tensor, forced: Tensor | None) -> tuple[Tensor, Tensor, Tensor] | None:
    """The rows that are forced, their tokens, and what these score; None where no row is."""
    if forced is None:
        return None
    rows = (forced != FREE).nonzero().squeeze(1)
    tokens = forced[rows].to(scores.device)
    rows = rows.to(scores.device)
    return rows, tokens, scores[rows, tokens]
