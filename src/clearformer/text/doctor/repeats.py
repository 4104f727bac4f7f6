"""Lines that occur more than once, found with eight bytes of memory per line."""

from array import array
from dataclasses import dataclass


@dataclass(frozen=True)
class Repeats:
    """How many lines repeat an earlier one, and the first few: (line, the line it repeats), from 1."""

    count: int
    examples: list[tuple[int, int]]


def find_repeats(hashes: "array[int]", examples: int) -> Repeats:
    """`hashes` holds one 64-bit hash per line, in the order of the lines."""
    import numpy as np  # imported here, so that reading lines or encoding text does not pay for it

    values = np.asarray(hashes, dtype=np.int64)
    order = np.argsort(values, kind="stable")  # equal hashes stay in the order of their lines
    again = np.flatnonzero(values[order][1:] == values[order][:-1]) + 1
    lines = np.sort(order[again])[:examples]
    found = [(int(line) + 1, int(np.argmax(values == values[line])) + 1) for line in lines]
    return Repeats(len(again), found)


def find_many_targets(sources: "array[int]", pairs: "array[int]", examples: int) -> Repeats:
    """Lines with another target for a source that has one already: a repeated source among distinct pairs."""
    import numpy as np

    _, first_lines = np.unique(np.asarray(pairs, dtype=np.int64), return_index=True)
    lines = np.sort(first_lines)
    distinct = array("q", np.asarray(sources, dtype=np.int64)[lines].tobytes())
    repeats = find_repeats(distinct, examples)
    found = [(int(lines[line - 1]) + 1, int(lines[first - 1]) + 1) for line, first in repeats.examples]
    return Repeats(repeats.count, found)
