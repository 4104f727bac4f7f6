"""Sets of characters as sorted ranges, and how a range of characters looks in UTF-8."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

Range = tuple[int, int]  # both included

LAST = 0x10FFFF
SURROGATES = (0xD800, 0xDFFF)  # halves of characters in UTF-16; UTF-8 has no spelling for them
# Bounds between which a character takes the same number of bytes.
_SIZES = ((0, 0x7F), (0x80, 0x7FF), (0x800, 0xFFFF), (0x10000, LAST))


@dataclass(frozen=True)
class Characters:
    """A set of code points. Make it with `of`, `between` or by the operators | & - ~."""

    ranges: tuple[Range, ...]

    @classmethod
    def of(cls, text: str) -> "Characters":
        """The characters of a text."""
        return cls.between(*((ord(letter), ord(letter)) for letter in text))

    @classmethod
    def between(cls, *ranges: Range) -> "Characters":
        """All characters in any of these ranges."""
        return cls(tuple(_joined(ranges)))

    def __or__(self, other: "Characters") -> "Characters":
        return Characters.between(*self.ranges, *other.ranges)

    def __invert__(self) -> "Characters":
        edges = [-1, *(edge for one in self.ranges for edge in one), LAST + 1]
        gaps = zip(edges[::2], edges[1::2], strict=True)
        free = Characters.between(*((low + 1, high - 1) for low, high in gaps if high - low > 1))
        return free if self.ranges == (SURROGATES,) else free & EVERY

    def __and__(self, other: "Characters") -> "Characters":
        return Characters.between(*_common(self.ranges, other.ranges))

    def __sub__(self, other: "Characters") -> "Characters":
        return self & ~other

    def __contains__(self, letter: str) -> bool:
        return any(low <= ord(letter) <= high for low, high in self.ranges)

    def __bool__(self) -> bool:
        return bool(self.ranges)

    @cached_property
    def utf8(self) -> tuple[tuple[Range, ...], ...]:
        """Sequences of byte ranges that spell exactly these characters."""
        return tuple(sequence for one in self.ranges for sequence in _spelled(*one))


def _joined(ranges: Iterable[Range]) -> list[Range]:
    """Sorted, without overlaps and without neighbours that could be one."""
    found: list[Range] = []
    for low, high in sorted(ranges):
        if found and low <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(high, found[-1][1]))
        else:
            found.append((low, high))
    return found


def _common(ones: tuple[Range, ...], others: tuple[Range, ...]) -> Iterator[Range]:
    one = other = 0
    while one < len(ones) and other < len(others):
        low, high = max(ones[one][0], others[other][0]), min(ones[one][1], others[other][1])
        if low <= high:
            yield low, high
        if ones[one][1] < others[other][1]:
            one += 1
        else:
            other += 1


def _spelled(low: int, high: int) -> Iterator[tuple[Range, ...]]:
    """Split a range until its characters differ in one run of last bytes alone."""
    for least, most in _SIZES:
        if low <= most and high >= least:
            yield from _of_one_size(max(low, least), min(high, most))


def _of_one_size(low: int, high: int) -> Iterator[tuple[Range, ...]]:
    first, last = chr(low).encode(), chr(high).encode()
    size = len(first)
    for place in range(1, size):  # bytes from `place` on must run over all values, or the first ones must agree
        step = 1 << (6 * (size - place))
        if low // step != high // step:
            if low % step:
                yield from _of_one_size(low, low // step * step + step - 1)
                yield from _of_one_size(low // step * step + step, high)
                return
            if high % step != step - 1:
                yield from _of_one_size(low, high // step * step - 1)
                yield from _of_one_size(high // step * step, high)
                return
    yield tuple(zip(first, last, strict=True))


EVERY = ~Characters((SURROGATES,))
