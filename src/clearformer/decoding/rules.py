"""What may not be said: hard rules on the next token, the same for every decoder.

Rules only ever remove choices; they never change the probability of what is left. The log-probabilities of a hypothesis
are therefore the model's own, and any other program with the same model can check them.

Shape letters: R rows, V vocabulary, T tokens chosen so far.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

FREE = -1  # in place of a forced token: the row may choose


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The end token and the bans. Only tokens that were generated count, forced prefixes included, prompts not."""

    eos: int
    min_len: int = 0  # tokens before the end token is allowed
    banned: tuple[int, ...] = ()
    no_repeat_ngram: int = 0  # no n tokens in a row occur twice; 0 = off

    def __post_init__(self) -> None:
        if self.min_len < 0:
            raise ValueError(f"min_len is {self.min_len}, but a minimum length cannot be negative.")
        if self.no_repeat_ngram < 0:
            raise ValueError(
                f"no_repeat_ngram is {self.no_repeat_ngram}; give 0 to switch it off or a length of at least 1."
            )
        if self.eos in self.banned:
            raise ValueError(
                f"The end token {self.eos} is banned, so no sequence could end; use min_len to delay the end."
            )

    def check_vocabulary(self, vocab_size: int) -> None:
        """Refuse token ids that the model does not have, before an index error does it less kindly."""
        for token in (self.eos, *self.banned):
            if not 0 <= token < vocab_size:
                raise ValueError(
                    f"Token {token} of the decoding rules is outside the vocabulary of {vocab_size} tokens."
                )

    def mask(self, log_probs: Tensor, history: Tensor, forced: Tensor) -> Tensor:
        """The log-probabilities (R V) with everything forbidden at minus infinity; a copy unless nothing is forbidden.

        history: R T, on the CPU; forced: R, on the CPU, a token id or FREE. A forced token beats every other rule. A
        row that the rules leave without any token may end, whatever min_len says: each path has a way to its end.
        """
        step = history.size(1)
        repeats = self._repeats(history)
        forcing = bool((forced != FREE).any())
        if not (self.banned or repeats.numel() or forcing or step < self.min_len):
            return log_probs
        allowed = log_probs.clone()
        allowed[:, list(self.banned)] = -torch.inf
        if repeats.numel():
            rows, tokens = repeats.to(log_probs.device).unbind(1)
            allowed[rows, tokens] = -torch.inf
        if step < self.min_len:
            allowed[:, self.eos] = -torch.inf
        stuck = allowed.amax(-1) == -torch.inf
        allowed[:, self.eos] = torch.where(stuck, log_probs[:, self.eos], allowed[:, self.eos])
        if forcing:
            rows = (forced != FREE).nonzero().squeeze(1).to(log_probs.device)
            tokens = forced[forced != FREE].to(log_probs.device)
            allowed[rows] = -torch.inf
            allowed[rows, tokens] = log_probs[rows, tokens]
        return allowed

    def _repeats(self, history: Tensor) -> Tensor:
        """Pairs (row, token) whose choice would repeat an n-gram: N 2."""
        n, length = self.no_repeat_ngram, history.size(1)
        if n == 0 or length < n:
            return history.new_empty(0, 2)
        # An n-gram is n - 1 tokens of context and the token after them. Every window of n - 1 tokens that equals the
        # last n - 1 forbids the token that followed it. With n = 1 the context is empty: what was said is forbidden.
        followers = history[:, n - 1 :]  # R W
        contexts = history[:, : length - 1].unfold(1, n - 1, 1) if n > 1 else history.new_empty(*followers.shape, 0)
        current = history[:, length - n + 1 :].unsqueeze(1)  # R 1 n-1
        rows, windows = (contexts == current).all(-1).nonzero().unbind(1)
        return torch.stack([rows, followers[rows, windows]], dim=1)
