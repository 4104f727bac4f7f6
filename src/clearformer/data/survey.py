"""Go once through a parallel corpus: how many pairs, how long, in which script, and a number a sentence.

The numbers stand for the sentences wherever only equality matters, so that a corpus of millions is split in a few bytes
a pair.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Self

import numpy as np
from numpy.typing import NDArray

from clearformer.data.readers.parallel import Pair
from clearformer.text.scripts import script_of

SCRIPT_PAIRS = 2_000  # pairs of which every letter is looked up; scripts do not change from sentence to sentence
ENOUGH_KANA = 0.02  # of the letters: Japanese has far more, Chinese has none

Keys = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Side:
    """One side of a corpus. script: that of most letters; kana: whether there is Japanese among Chinese characters."""

    length: float  # characters in a sentence, on average
    script: str | None
    kana: bool
    keys: Keys  # equal where two sentences are the same but for case and spacing


@dataclass(frozen=True, kw_only=True)
class Survey:
    """What was seen."""

    pairs: int
    source: Side
    target: Side

    @classmethod
    def of(cls, pairs: Iterable[Pair]) -> Self:
        """Read all pairs once."""
        source, target = _Tally(), _Tally()
        remaining = iter(pairs)
        for pair in islice(remaining, SCRIPT_PAIRS):
            source.see(pair.source, letters=True)
            target.see(pair.target, letters=True)
        for pair in remaining:
            source.see(pair.source)
            target.see(pair.target)
        return cls(pairs=len(source.keys), source=source.side(), target=target.side())


class _Tally:
    def __init__(self) -> None:
        self.keys = array("q")
        self._characters = 0
        self._letters: Counter[str] = Counter()

    def see(self, sentence: str, *, letters: bool = False) -> None:
        self.keys.append(hash(" ".join(sentence.casefold().split())))
        self._characters += len(sentence)
        if letters:
            self._letters.update(sentence)

    def side(self) -> Side:
        scripts: Counter[str] = Counter()
        for letter, count in self._letters.items():
            if (script := script_of(letter)) is not None:
                scripts[script] += count
        kana = sum(count for letter, count in self._letters.items() if "\u3040" <= letter <= "\u30ff")
        return Side(
            length=self._characters / max(1, len(self.keys)),
            script=max(scripts, key=lambda name: (scripts[name], name), default=None),
            kana=kana > ENOUGH_KANA * scripts.total(),
            keys=np.frombuffer(self.keys, dtype=np.int64) if self.keys else np.empty(0, dtype=np.int64),
        )
