"""How long each sentence may become and how it has to begin: one entry per sentence, never one for the whole batch.

A maximum over the batch would let a long sentence lengthen its neighbours' search, and the same sentence would give
different results in different batches.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from clearformer.decoding.rules import FREE, Rules


@dataclass(frozen=True)
class LengthLimits:
    """max_len: B, the most tokens a hypothesis may have (end token not counted); prefix: B P, padded with FREE."""

    max_len: Tensor
    prefix: Tensor
    shortest: int  # the smallest of max_len: before it no limit applies

    @classmethod
    def of(
        cls, sentences: int, rules: Rules, max_len: int | Sequence[int], prefixes: Sequence[Sequence[int]] | None
    ) -> "LengthLimits":
        lengths = [max_len] * sentences if isinstance(max_len, int) else list(max_len)
        starts = [()] * sentences if prefixes is None else [tuple(prefix) for prefix in prefixes]
        _check(sentences, rules, lengths, starts)
        longest = max(map(len, starts), default=0)
        padded = [(*start, *[FREE] * (longest - len(start))) for start in starts]
        prefix = torch.tensor(padded, dtype=torch.int64).view(sentences, longest)
        return cls(max_len=torch.tensor(lengths, dtype=torch.int64), prefix=prefix, shortest=min(lengths, default=0))

    def forced(self, sentences: Tensor, step: int, *, end: int | None = None) -> Tensor | None:
        """The token that each of these sentences is forced to take at this step, or FREE: N. None where none is forced.

        end: the token that a sentence at its maximum length is forced to take, if it is made to end.
        """
        forced = self.prefix[sentences, step] if step < self.prefix.size(1) else None
        if end is not None and step >= self.shortest:
            over = self.max_len[sentences] == step
            if bool(over.any()):
                forced = torch.where(over, end, FREE if forced is None else forced)
        return forced

    def check_vocabulary(self, vocab_size: int) -> None:
        """Refuse forced tokens that the model does not have."""
        highest = int(self.prefix.max()) if self.prefix.numel() else FREE
        if highest >= vocab_size:
            raise ValueError(f"prefix token {highest} is outside the vocabulary of {vocab_size} tokens")


def _check(sentences: int, rules: Rules, lengths: list[int], starts: Sequence[tuple[int, ...]]) -> None:
    for name, given in (("max_len", lengths), ("prefixes", starts)):
        if len(given) != sentences:
            raise ValueError(f"{name} has {len(given)} entries for {sentences} sentences; give one per sentence")
    for row, (length, start) in enumerate(zip(lengths, starts, strict=True)):
        if length < 1:
            raise ValueError(f"max_len of sentence {row} is {length}; it must be at least 1")
        if length < rules.min_len:
            raise ValueError(f"max_len of sentence {row} is {length}, less than min_len {rules.min_len}")
        if len(start) > length:
            raise ValueError(f"the prefix of sentence {row} has {len(start)} tokens, more than its max_len {length}")
        if any(token < 0 or token == rules.eos for token in start):
            raise ValueError(f"the prefix of sentence {row} holds the end token {rules.eos} or a negative id: {start}")
