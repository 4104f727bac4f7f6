"""The data plan: which sentences go into which batch, in which order, on which rank.

A plan is a pure function of (lengths, token budget, seed, epoch, rank count). Nothing is drawn while training runs, so
every rank works out its own share alone, and a run that stopped after k batches goes on with `plan.at(k)`, which is
`plan.batches(epoch)[k:]` in the first epoch and costs no more in the thousandth.

How an epoch is made:

1. *Bucket.* The width of a pair is the longer of its two sides. Widths are rounded up to a level (exact up to 16
   tokens, then eight levels each time the width doubles), and the sentences of a level are interchangeable.
2. *Pack.* Levels are laid out from widest to narrowest and cut greedily, so that rows x width never exceeds the budget.
   The cuts depend on the levels only: every epoch has the same number of batches, which makes resuming arithmetic.
3. *Fill.* Within a level the sentences are put in order of (target - source), blurred by noise that changes with the
   epoch. Neighbours then have similar lengths on both sides, and other neighbours in every epoch.
4. *Share out.* Batches are shuffled and dealt to the ranks like cards, as many to each (see `_deal_evenly`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Rows = NDArray[np.int64]  # the sentences of one batch, as indices into the corpus

EXACT_WIDTHS = 16  # below this a level is one width: rounding up would waste a noticeable share of a short row
LEVELS_PER_OCTAVE = 8  # above it the levels widen with the row, so rounding adds less than one token in eight
SENTENCE_STREAM, BATCH_STREAM = 0, 1  # independent random numbers for the two things that an epoch shuffles
MAX_LENGTH = 1 << 30  # keeps a sort key of (level, difference of sides, noise) inside 64 bits


@dataclass(frozen=True, kw_only=True)
class BatchingConfig:
    """How much goes into a batch. A batch counts as rows x its longest row, on the side where that is more."""

    max_tokens: int = 4096
    max_sentences: int | None = None
    longest_first: bool = False  # start epoch 0 with the batch that needs the most memory: fail at once or not at all

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            raise ValueError(f"max_tokens is {self.max_tokens}, but a batch needs room for at least one token.")
        if self.max_sentences is not None and self.max_sentences < 1:
            raise ValueError(f"max_sentences is {self.max_sentences}, but a batch holds at least one sentence.")


class Position(NamedTuple):
    """Where a run stands: the next batch to train on is `plan.batches(epoch)[batch]`."""

    epoch: int
    batch: int


class DataPlan:
    """The batches of every epoch for a corpus of known lengths (special tokens included)."""

    def __init__(
        self,
        source_lengths: ArrayLike,
        target_lengths: ArrayLike | None = None,
        *,
        config: BatchingConfig,
        seed: int,
        ranks: int = 1,
    ) -> None:
        if ranks < 1:
            raise ValueError(f"The plan is for {ranks} ranks, but at least one process has to train.")
        if seed < 0:
            raise ValueError(f"The seed is {seed}, but a seed is zero or more.")
        self.config = config
        self.seed = seed
        self.ranks = ranks
        self._source = np.asarray(source_lengths, dtype=np.int64)
        self._target = self._source if target_lengths is None else np.asarray(target_lengths, dtype=np.int64)
        _check_lengths(self._source, self._target, config.max_tokens)

        widths = np.maximum(self._source, self._target)
        self._level, level_widths = _levels(widths)
        sentences_per_level = np.bincount(self._level, minlength=len(level_widths))
        self._sizes, self.repeated = _deal_evenly(_pack(level_widths, sentences_per_level, config), ranks)
        self._starts = np.cumsum(self._sizes) - self._sizes
        self._widths = np.repeat(level_widths, sentences_per_level)[self._starts]
        self._at_hand: tuple[tuple[int, int], list[Rows]] | None = None

    @property
    def sentences(self) -> int:
        """How many sentences an epoch goes through."""
        return len(self._source)

    @property
    def steps_per_epoch(self) -> int:
        """How many batches each rank has in an epoch: the same for every rank and epoch."""
        return (len(self._sizes) + self.repeated) // self.ranks

    def position(self, step: int) -> Position:
        """Where a run stands that has taken `step` batches a rank, without looking at what was in them."""
        if step < 0:
            raise ValueError(f"Step {step} does not exist: steps are counted from 0.")
        return Position(*divmod(step, self.steps_per_epoch))

    def batches(self, epoch: int, rank: int = 0) -> list[Rows]:
        """The batches of one epoch on one rank, in order."""
        if not 0 <= rank < self.ranks:
            raise ValueError(f"Rank {rank} is not in this plan, which is for ranks 0 to {self.ranks - 1}.")
        order = self._sentence_order(epoch)
        mine = self._batch_order(epoch)[rank :: self.ranks]
        bounds = zip(self._starts[mine].tolist(), (self._starts + self._sizes)[mine].tolist(), strict=True)
        return [order[start:end] for start, end in bounds]

    def at(self, step: int, rank: int = 0) -> Rows:
        """The batch of any step, for whoever goes through them one by one: the epoch around it is kept at hand."""
        epoch, batch = self.position(step)
        if self._at_hand is None or self._at_hand[0] != (epoch, rank):
            self._at_hand = (epoch, rank), self.batches(epoch, rank)
        return self._at_hand[1][batch]

    def waste(self, epoch: int = 0) -> float:
        """The share of padding among all positions of an epoch's batches, both sides counted."""
        order = self._sentence_order(epoch)
        padded = sum(
            int(np.maximum.reduceat(side[order], self._starts) @ self._sizes) for side in (self._source, self._target)
        )
        return 1 - int(self._source.sum() + self._target.sum()) / padded

    def _sentence_order(self, epoch: int) -> Rows:
        """All sentences, level by level from the widest, in an order within the level that belongs to this epoch."""
        noise = _random_bits(self.seed, epoch, SENTENCE_STREAM, self.sentences)
        # The difference of the sides, in 1/256 tokens, moved by up to an eighth of the row: enough for new neighbours.
        reach = 256 + 32 * np.maximum(self._source, self._target)
        blur = (noise >> np.uint64(40)).astype(np.int64) * reach >> 24
        difference = ((self._target - self._source + MAX_LENGTH) << 8) + blur
        tie_breaker = (noise & np.uint64(0x3FFF)).astype(np.int64)
        key = (self._level << 54) | (difference << 14) | tie_breaker
        # Stable: an unstable sort may break the last ties differently on another processor, and ranks must agree.
        return np.argsort(key, kind="stable")

    def _batch_order(self, epoch: int) -> Rows:
        """The shuffled order of all batches of an epoch, ready to be dealt to the ranks."""
        count = len(self._sizes)
        order = np.argsort(_random_bits(self.seed, epoch, BATCH_STREAM, count), kind="stable")
        if self.config.longest_first and epoch == 0:
            attention = self._sizes * self._widths**2  # the memory that grows fastest with the length
            largest = np.argsort(-attention, kind="stable")[: self.ranks]  # one for each rank
            order = np.concatenate([largest, order[~np.isin(order, largest)]])
        return np.resize(order, count + self.repeated)  # goes round to the start where batches have to be repeated


def _check_lengths(source: Rows, target: Rows, max_tokens: int) -> None:
    """Refuse what no plan can hold, with the index of the first offender."""
    if source.ndim != 1 or target.ndim != 1 or len(source) != len(target):
        raise ValueError(f"Lengths of shape {source.shape} and {target.shape} do not pair up: one of each a sentence.")
    if not len(source):
        raise ValueError("There is no sentence to plan for: the corpus is empty or every pair was left out.")
    shortest = np.minimum(source, target)
    if shortest.min() < 1:
        index = int(np.argmax(shortest < 1))
        raise ValueError(
            f"Sentence {index} has length {shortest[index]}; lengths include special tokens, so at least 1."
        )
    longest = np.maximum(source, target)
    ceiling = min(max_tokens, MAX_LENGTH)
    if longest.max() > ceiling:
        index = int(np.argmax(longest > ceiling))
        raise ValueError(
            f"Sentence {index} has {longest[index]} tokens but a batch holds {ceiling}: "
            f"raise max_tokens or leave out sentences this long."
        )


def _levels(widths: Rows) -> tuple[Rows, Rows]:
    """Group similar widths: the level of each sentence (0 = widest) and the greatest width found in each level."""
    occurring = np.unique(widths)
    octave = np.ceil(np.log2(np.maximum(occurring, EXACT_WIDTHS))).astype(np.int64)
    step = np.maximum((1 << octave) // (2 * LEVELS_PER_OCTAVE), 1)
    rounded = -(-occurring // step) * step
    last_of_level = np.append(rounded[1:] != rounded[:-1], True)
    level_widths = occurring[last_of_level][::-1].copy()
    level_of_occurring = len(level_widths) - 1 - (np.cumsum(last_of_level) - last_of_level)
    return level_of_occurring[np.searchsorted(occurring, widths)], level_widths


def _pack(level_widths: Rows, sentences_per_level: Rows, config: BatchingConfig) -> Rows:
    """The sizes of the batches when the levels, widest first, are cut as late as the budget allows."""
    sizes: list[int] = []
    room = 0  # rows that still fit into the last batch, whose width is that of its first row
    for width, sentences in zip(level_widths.tolist(), sentences_per_level.tolist(), strict=True):
        rows = min(config.max_tokens // width, config.max_sentences or config.max_tokens)
        joining = min(room, sentences)
        if joining:
            sizes[-1] += joining
            room -= joining
        full, rest = divmod(sentences - joining, rows)
        sizes += [rows] * full
        if rest:
            sizes.append(rest)
            room = rows - rest
    return np.array(sizes, dtype=np.int64)


def _deal_evenly(sizes: Rows, ranks: int) -> tuple[Rows, int]:
    """Make the number of batches a multiple of the ranks by cutting the largest ones in two.

    So nothing is dropped and nothing is seen twice. Only when every batch is a single sentence is there nothing left to
    cut; the second value then says how many batches of an epoch have to be repeated (fewer than there are ranks).
    """
    while len(sizes) % ranks and sizes.max() > 1:
        largest = int(np.argmax(sizes))
        half = sizes[largest] // 2
        sizes = np.insert(sizes, largest, half)
        sizes[largest + 1] -= half
    return sizes, -len(sizes) % ranks


def _random_bits(seed: int, epoch: int, stream: int, count: int) -> NDArray[np.uint64]:
    """Random numbers that belong to (seed, epoch, stream).

    Raw bits, because NumPy promises that these never change between versions, which it does not promise for `shuffle`.
    """
    bits = np.random.PCG64(np.random.SeedSequence([seed, epoch, stream])).random_raw(count)
    return np.asarray(bits, dtype=np.uint64)
