"""Texts as rows of tokens for a model that reads: joined end to end and cut anywhere, or one text per row."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from clearformer.data.shards import Shards
from clearformer.data.token_pairs import TokenIds
from clearformer.data.word_pieces import markers
from clearformer.text.tokenizer import Tokenizer


class JoinedRows:
    """A stream of tokens as overlapping stretches of two rows, out of which `cut` takes one at any offset."""

    def __init__(self, stream: TokenIds, length: int) -> None:
        self.stream, self.length = stream, length

    def __len__(self) -> int:
        return max(1, len(self.stream) // self.length)

    def __getitem__(self, index: int) -> TokenIds:
        start = index * self.length
        return self.stream[start : start + 2 * self.length]


class SingleRows:
    """The first column of shards: one text per row."""

    def __init__(self, shards: Shards) -> None:
        self.shards = shards

    def __len__(self) -> int:
        return len(self.shards)

    def __getitem__(self, index: int) -> TokenIds:
        return self.shards[index][0]


def cut(stretch: TokenIds, chance: float, length: int) -> TokenIds:
    """One row out of a stretch that may be longer. chance: where, between 0 and 1."""
    start = int(chance * (max(0, len(stretch) - length) + 1))
    return stretch[start : start + length]


@dataclass(frozen=True, kw_only=True)
class RowFrame:
    """How texts become rows of at most `length` tokens: [CLS] before each row, and [SEP] after each text.

    joined: texts follow one another and a row may end anywhere; otherwise a row is one text, or a part of a long one.
    """

    before: tuple[int, ...]
    after: tuple[int, ...]
    length: int
    joined: bool

    @classmethod
    def of(cls, tokenizer: Tokenizer, *, length: int, joined: bool) -> Self:
        """With the markers that a vocabulary puts around a text."""
        before, after = markers(tokenizer)
        return cls(before=tuple(before), after=tuple(after), length=length, joined=joined)

    @property
    def room(self) -> int:
        """Tokens of a row beside the markers that are added to it; joined texts bring their ends along."""
        return self.length - len(self.before) - (0 if self.joined else len(self.after))

    def texts(self, ids: Iterable[Sequence[int]]) -> list[TokenIds]:
        """Texts as they are kept: all in one long row, or each in parts that fit. What has no tokens is left out."""
        if self.joined:
            return [np.fromiter((one for text in ids if text for one in (*text, *self.after)), dtype=np.int64)]
        return [part for text in ids for part in in_parts(np.array(text, dtype=np.int64), self.room)]

    def rows(self, ids: Iterable[Sequence[int]]) -> list[TokenIds]:
        """Texts as rows in order, without the markers that `marked` adds; nothing is left out."""
        return [row for whole in self.texts(ids) for row in in_parts(whole, self.room)]

    def marked(self, row: TokenIds) -> TokenIds:
        """A row as the model sees it."""
        return np.concatenate([self.before, row, () if self.joined else self.after]).astype(np.int64)


def in_parts(ids: TokenIds, length: int) -> Iterator[TokenIds]:
    """A row in parts of at most `length` tokens, in order: nothing is left out."""
    return (ids[start : start + length] for start in range(0, len(ids), length))
