"""The data plan of a text that is read in order: each row of a batch goes on where it stopped in the batch before.

Like `DataPlan` it is a pure function, of (tokens, length, budget, seed, epoch). A text is cut into as many equal
stretches as a batch has rows, and every step takes the next `length` tokens of each. Another epoch begins at another
token, so that segments are not cut at the same places again and the few tokens that are left over are others.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from clearformer.data.batching import BatchingConfig, Position

LEAST_STEPS = 2  # of a row; with one, nothing would ever be gone on with


class Plan(Protocol):
    """Which examples go into which batch."""

    def position(self, step: int) -> Position:
        """Where a run stands that has taken `step` batches a rank."""

    def batches(self, epoch: int, rank: int = 0) -> list[NDArray[np.int64]]:
        """The batches of one epoch on one rank, in order."""


class RowPlan:
    """Segments of `length` predictions out of a text of so many tokens; an example is named by its first token."""

    def __init__(self, tokens: int, length: int, *, config: BatchingConfig, seed: int, ranks: int = 1) -> None:
        if ranks > 1:
            raise ValueError("rows that go on from batch to batch stay in one process; train without torchrun")
        if config.max_tokens < length:
            raise ValueError(
                f"a batch of {config.max_tokens} tokens has no room for a row of {length}; raise training.batch_tokens"
            )
        room = (tokens - 1) // (LEAST_STEPS * length)
        if not room:
            raise ValueError(
                f"the text has {tokens:,} tokens, too few for a row to go on after {length} of them; shorten the rows"
            )
        self.rows = min(config.max_tokens // length, config.max_sentences or config.max_tokens, room)
        self.steps_per_epoch = (tokens - 1) // (self.rows * length)
        self.length, self.seed = length, seed
        self._spare = tokens - 1 - self.rows * self.steps_per_epoch * length

    def position(self, step: int) -> Position:
        """Where a run stands that has taken `step` batches."""
        if step < 0:
            raise ValueError(f"Step {step} does not exist: steps are counted from 0.")
        return Position(*divmod(step, self.steps_per_epoch))

    def batches(self, epoch: int, rank: int = 0) -> list[NDArray[np.int64]]:
        """The first tokens of the segments of each batch, row by row."""
        if rank:
            raise ValueError(f"Rank {rank} is not in this plan, which is for one process.")
        first = self._first(epoch)
        rows = first + np.arange(self.rows, dtype=np.int64) * self.steps_per_epoch * self.length
        return [rows + step * self.length for step in range(self.steps_per_epoch)]

    def _first(self, epoch: int) -> int:
        """Where the first row begins. Raw bits, because NumPy promises that these never change between versions."""
        drawn = np.random.PCG64(np.random.SeedSequence([self.seed, epoch])).random_raw(1)[0]
        return int(drawn) % (self._spare + 1)
