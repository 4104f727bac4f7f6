"""Made-up tasks with known answers: copy, reverse, sort, parity.

They need no file, take seconds to learn, and each asks for something else of a model: copying needs attention to the
same place, reversing to a place that depends on the length, sorting to the values, and parity to everything at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clearformer.data.token_pairs import SPECIALS_PER_SIDE

Symbols = NDArray[np.int64]  # values 0 … symbols - 1, before they become token ids


def _copy(symbols: Symbols) -> Symbols:
    return symbols.copy()


def _reverse(symbols: Symbols) -> Symbols:
    return symbols[::-1].copy()


def _sort(symbols: Symbols) -> Symbols:
    return np.sort(symbols)


def _parity(symbols: Symbols) -> Symbols:
    """One symbol: 1 if the sum is odd, 0 if it is even. Changing any odd symbol changes the answer."""
    return np.array([symbols.sum() % 2])


TASKS: dict[str, Callable[[Symbols], Symbols]] = {
    "copy": _copy,
    "reverse": _reverse,
    "sort": _sort,
    "parity": _parity,
}


@dataclass(frozen=True, kw_only=True)
class ToyTask:
    """Which task, over how many symbols, at which lengths."""

    name: str
    symbols: int = 10
    min_len: int = 1
    max_len: int = 10
    first_symbol: int = 4  # token id of symbol 0; the ids below are left to the special tokens

    def __post_init__(self) -> None:
        if self.name not in TASKS:
            raise ValueError(f"There is no toy task {self.name!r}: choose one of {', '.join(TASKS)}.")
        if self.symbols < 2:
            raise ValueError(f"A toy task over {self.symbols} symbols has nothing to learn: take at least 2.")
        if not 1 <= self.min_len <= self.max_len:
            raise ValueError(f"Lengths from {self.min_len} to {self.max_len} are not a range that starts at 1 or more.")

    @property
    def vocab_size(self) -> int:
        """Token ids are below this."""
        return self.first_symbol + self.symbols


class ToyPairs:
    """The first `count` examples of a task; a larger count with the same seed begins with the same examples."""

    def __init__(self, task: ToyTask, *, count: int, seed: int) -> None:
        self.task = task
        # Two streams, so that the number of examples does not move the symbols of the first ones.
        spread = task.max_len - task.min_len + 1
        self._lengths = task.min_len + _draw(seed, stream=0, count=count, below=spread)
        self._ends = np.cumsum(self._lengths)
        self._symbols = _draw(seed, stream=1, count=int(self._lengths.sum()), below=task.symbols)

    def __len__(self) -> int:
        return len(self._lengths)

    def __getitem__(self, index: int) -> tuple[Symbols, Symbols]:
        end = self._ends[index]
        symbols = self._symbols[end - self._lengths[index] : end]
        first = self.task.first_symbol
        return symbols + first, TASKS[self.task.name](symbols) + first

    def lengths(self) -> tuple[Symbols, Symbols]:
        """Source and target lengths as they will stand in a batch, special tokens included."""
        target = np.ones_like(self._lengths) if self.task.name == "parity" else self._lengths
        return self._lengths + SPECIALS_PER_SIDE, target + SPECIALS_PER_SIDE


def _draw(seed: int, *, stream: int, count: int, below: int) -> Symbols:
    """Numbers from 0 to below - 1, from raw bits, which are the same in every version of NumPy."""
    bits = np.random.PCG64(np.random.SeedSequence([seed, stream])).random_raw(count)
    return (np.asarray(bits, dtype=np.uint64) % np.uint64(below)).astype(np.int64)
