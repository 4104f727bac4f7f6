"""From numbers to places along an axis, and the round numbers that are written beside it."""

import math
from collections.abc import Iterator, Sequence
from typing import Protocol

TICKS = 5  # about so many
CROWDED, MOST_POWERS = 4, 8  # powers of ten on an axis: from when 2 and 5 are left out, and how many are named


class Axis(Protocol):
    """An axis between two places."""

    def place(self, value: float) -> float: ...
    def ticks(self) -> Iterator[float]: ...


class Linear:
    """Equal differences are equal distances. The axis reaches from one round number to another."""

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        low, high = min(values), max(values)
        if high - low <= 1e-12 * max(abs(low), abs(high)):  # a single value stands in the middle
            room = max(abs(low), 1e-9) / 2
            low, high = low - room, high + room
        raw = (high - low) / TICKS
        power = 10.0 ** math.floor(math.log10(raw))
        self._step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * 0.999)
        self._first, self._last = math.floor(low / self._step + 1e-9), math.ceil(high / self._step - 1e-9)
        self._start, self._end = start, end

    def place(self, value: float) -> float:
        """Where a number stands."""
        share = (value / self._step - self._first) / (self._last - self._first)
        return self._start + share * (self._end - self._start)

    def ticks(self) -> Iterator[float]:
        """Round numbers from end to end."""
        for count in range(self._first, self._last + 1):
            yield round(count * self._step, 12)


class Logarithmic:
    """Equal ratios are equal distances."""

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        if not values or min(values) <= 0:
            raise ValueError("a logarithmic axis needs numbers above zero")
        self._low, self._high = math.log10(min(values)), math.log10(max(values))
        if self._high - self._low < 0.05:  # a single value stands in the middle
            self._low, self._high = self._low - 0.15, self._high + 0.15
        self._start, self._end = start, end

    def place(self, value: float) -> float:
        """Where a number stands."""
        share = (math.log10(value) - self._low) / (self._high - self._low)
        return self._start + share * (self._end - self._start)

    def ticks(self) -> Iterator[float]:
        """1, 2, 5, 10, 20 … inside the range; over many powers of ten these alone, or every n-th of them."""
        powers = self._high - self._low
        digits = (1, 2, 5) if powers <= CROWDED else (1,)
        every = max(1, math.ceil(powers / MOST_POWERS))
        for power in range(math.floor(self._low), math.ceil(self._high) + 1):
            for digit in digits:
                value = digit * 10.0**power
                if power % every == 0 and self._low - 1e-9 <= math.log10(value) <= self._high + 1e-9:
                    yield value


def short_number(value: float) -> str:
    """As it is written beside an axis: 20000 is 20k."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{letter}".replace("-", "−")
    return f"{value:g}".replace("-", "−")
