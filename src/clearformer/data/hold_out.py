"""Hold pairs out for development and testing, so that no sentence of theirs is met in training.

Two pairs that share a sentence on either side are relatives, and so are the relatives of relatives. Families stay
together: "Thank you." has many translations, and a test that asks for one of them after training showed the others
would measure memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from clearformer.data.readers.parallel import Pair
from clearformer.foundation import storage

TRAIN, DEV, TEST = range(3)
PARTS = ("train", "dev", "test")

Rows = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Split:
    """Which part each pair belongs to, as a number of PARTS."""

    part: NDArray[np.uint8]

    def count(self, part: int) -> int:
        return int((self.part == part).sum())


def split_pairs(source_keys: Rows, target_keys: Rows, *, held_out: int, seed: int = 1) -> Split:
    """Put about `held_out` pairs into each of dev and test: the same ones for the same corpus and seed.

    Families that would fill a tenth of a part stay in training: a test of one sentence in many guises says little.
    """
    family = find_families(source_keys, target_keys)
    heads, family, sizes = np.unique(family, return_inverse=True, return_counts=True)
    bits = np.random.PCG64(np.random.SeedSequence([seed])).random_raw(len(heads))
    part_of_family = np.full(len(heads), TRAIN, dtype=np.uint8)
    largest = max(4, held_out // 10)
    room = {TEST: held_out, DEV: held_out}
    for drawn in np.argsort(bits, kind="stable"):
        size = int(sizes[drawn])
        part = next((part for part, left in room.items() if size <= left), None)
        if part is not None and size <= largest:
            part_of_family[drawn] = part
            room[part] -= size
        if not any(room.values()):
            break
    if max(room.values()) > held_out // 2:
        raise ValueError(
            f"these {len(family):,} pairs cannot be split: so many share a sentence that only "
            f"{held_out - max(room.values())} of {held_out} could be held out; `clearformer doctor` names the repeats"
        )
    return Split(part=part_of_family[family])


def find_families(source_keys: Rows, target_keys: Rows) -> Rows:
    """The lowest row of each row's family: rows linked by equal keys on either side, directly or through others."""
    sides = [np.unique(keys, return_inverse=True)[1] for keys in (source_keys, target_keys)]
    family = np.arange(len(source_keys))
    while True:
        before = family
        for side in sides:
            lowest = np.full(len(source_keys), len(source_keys))
            np.minimum.at(lowest, side, family)
            family = lowest[side]
        family = family[family]  # a row's family is known by a row, whose own family may be lower already
        if np.array_equal(family, before):
            return family


def write_parts(pairs: Iterable[Pair], split: Split, folder: Path, *, suffixes: tuple[str, str]) -> None:
    """Write a split as plain files (train.en, train.de, dev.en, …), all of them or none."""
    with storage.new_folder(folder) as aside:
        files = [
            [(aside / f"{part}.{suffix}").open("w", encoding="utf-8", newline="\n") for suffix in suffixes]
            for part in PARTS
        ]
        try:
            for pair, part in zip(pairs, split.part.tolist(), strict=True):
                for file, text in zip(files[part], (pair.source, pair.target), strict=True):
                    file.write(f"{text}\n")
        finally:
            for file in (file for both in files for file in both):
                file.close()
