"""Divide sentence pairs into parts that share no sentence, by the rules that made the catalogued files.

Pairs that share a sentence on either side form a group, and a group goes into one part. The rules here are frozen: the
catalogue's checksums are of what they gave. For one's own pairs see `data.hold_out`.
"""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")

HELD_OUT = ("val", "test")  # a third size, where there is one, is of groups that are in no part


def divide(lines: Sequence[str], *, seed: int, sizes: Sequence[int]) -> dict[str, list[str]]:
    """Groups are shuffled and the first of them held out, one pair of each; the rest trains, in the order it had.

    Sentences are the same when their letters and digits are.
    """
    groups = _groups(lines, _letters_and_digits)
    order = shuffled(range(len(groups)), seed)
    parts = {}
    start = 0
    for part, size in zip(HELD_OUT, sizes, strict=False):
        parts[part] = [lines[groups[group][0]] for group in order[start : start + size]]
        start += size
    rest = order[sum(sizes) :]
    parts["train"] = [lines[row] for row in sorted(row for group in rest for row in groups[group])]
    return parts


def shuffled(items: Sequence[T], seed: int) -> list[T]:
    """In the random order that Python's generator has given for this seed since version 3.2."""
    order = list(items)
    random.Random(seed).shuffle(order)
    return order


def _groups(lines: Sequence[str], same: Callable[[str], str]) -> list[list[int]]:
    """The rows of each group, groups in the order of their first rows."""
    parent = list(range(len(lines)))

    def head(row: int) -> int:
        while parent[row] != row:
            parent[row] = row = parent[parent[row]]
        return row

    seen: dict[tuple[int, str], int] = {}
    for row, line in enumerate(lines):
        if "\t" not in line:
            raise ValueError(f"line {row + 1} has one column")
        for side, sentence in enumerate(line.split("\t")[:2]):
            first, second = sorted((head(row), head(seen.setdefault((side, same(sentence)), row))))
            parent[second] = first
    members: dict[int, list[int]] = {}
    for row in range(len(lines)):
        members.setdefault(head(row), []).append(row)
    return list(members.values())


def _letters_and_digits(sentence: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFKC", sentence).casefold() if letter.isalnum())
