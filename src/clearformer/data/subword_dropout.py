"""Now and then read a piece as the two pieces that it was merged from: the same words, spelt anew at every reading.

A vocabulary gives each word one spelling, so a small corpus shows most pieces in few places, and what a long piece has
in common with its parts is never seen. BPE-dropout (Provilkov, Emelianenko and Voita, 2020) therefore leaves out merges
at random while it encodes. Here merges are undone instead, from the last one made downwards: that needs ids alone, not
the text, so the corpus is still tokenised once, and any piece that comes out was on the way to the piece that went in.

What is drawn depends on the seed and the place in the run alone, never on what was read before.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clearformer.data.token_pairs import SPECIALS_PER_SIDE, TokenIds
from clearformer.text.tokenizer import Tokenizer

Pair = tuple[TokenIds, TokenIds]
WHOLE = -1  # in a table of halves: this piece was not merged from others


class SubwordDropout:
    """Sentence pairs as one reading sees them. rate: the chance of each piece, and then of its parts, to be split."""

    def __init__(self, source: Tokenizer, target: Tokenizer, *, rate: float, longest: int) -> None:
        self._rate, self._longest = rate, longest - SPECIALS_PER_SIDE
        self._tables = [halves_table(side) for side in (source, target)] if rate else []

    def read(self, rows: list[Pair], *, seed: Sequence[int]) -> list[Pair]:
        """The same pairs in other pieces; what would become too long stays as it was."""
        if not self._rate:
            return rows
        random = np.random.default_rng(seed)
        source, target = self._tables
        return [(self._spell(x, source, random), self._spell(y, target, random)) for x, y in rows]

    def _spell(self, ids: TokenIds, halves: NDArray[np.int64], random: np.random.Generator) -> TokenIds:
        split = split_pieces(ids.astype(np.int64), halves, self._rate, random)
        return split if len(split) <= self._longest else ids


def split_pieces(
    ids: NDArray[np.int64], halves: NDArray[np.int64], rate: float, random: np.random.Generator
) -> NDArray[np.int64]:
    """Split each piece with this chance, and each part of one that was split with the same chance again."""
    fresh = np.ones(len(ids), dtype=bool)
    while True:
        chosen = fresh & (halves[ids, 0] != WHOLE) & (random.random(len(ids)) < rate)
        if not chosen.any():
            return ids
        times = 1 + chosen
        first = np.cumsum(times) - times  # where each piece, or the first half of it, stands from now on
        halved = halves[ids[chosen]]
        ids = np.repeat(ids, times)
        ids[first[chosen]], ids[first[chosen] + 1] = halved[:, 0], halved[:, 1]
        fresh = np.repeat(chosen, times)


def halves_table(tokenizer: Tokenizer) -> NDArray[np.int64]:
    """Row i: the two pieces that piece i was merged from, or WHOLE twice."""
    table = np.full((tokenizer.vocab_size, 2), WHOLE, dtype=np.int64)
    for piece, parts in tokenizer.halves().items():
        table[piece] = parts
    return table
