"""Numbers between two bounds, digit by digit: a machine that knows whether it still runs along a bound."""

from dataclasses import dataclass
from decimal import Decimal

from clearformer.decoding.constraints.character_sets import Characters
from clearformer.decoding.constraints.grammar import Either, LetterMachine, Part, Series, text

DIGITS = 15  # as many as every program keeps exactly


@dataclass(frozen=True)
class Limit:
    """A bound. open: the number itself does not count."""

    value: Decimal
    open: bool = False


def decimals(low: Limit | None, high: Limit | None, *, fraction: int) -> Part:
    """Decimal numbers within the limits, with at most so many digits behind the point. Minus zero is not written."""
    zero = Limit(Decimal(0))
    options: list[Part] = []
    if high is None or high.value >= 0:
        above = low is not None and (low.value > 0 or (low.value == 0 and low.open))
        options.append(_magnitudes(low if low is not None and above else zero, high, fraction))
    if low is None or low.value < 0:
        floor = Limit(-high.value, high.open) if high is not None and high.value < 0 else Limit(Decimal(0), open=True)
        ceiling = None if low is None else Limit(-low.value, low.open)
        options.append(Series((text("-"), _magnitudes(floor, ceiling, fraction))))
    return Either(tuple(options))


def _magnitudes(low: Limit, high: Limit | None, fraction: int) -> LetterMachine:
    """Numbers without a sign, from a bound to another."""
    if high is None:
        whole = max(DIGITS - fraction, 1)
        high = Limit(Decimal(10) ** max(whole, len(_digits(low.value)[0]) + 1), open=True)
    made = _DigitMachine(low, high, fraction)
    for size in range(len(_digits(low.value)[0]), len(_digits(high.value)[0]) + 1):
        made.add(size)
    return LetterMachine(tuple(tuple(edges) for edges in made.edges), frozenset(made.ends))


def _digits(value: Decimal) -> tuple[str, str]:
    whole, _, rest = f"{value:f}".partition(".")
    return whole.lstrip("0") or "0", rest


class _DigitMachine:
    """A state is how many digits were read, and whether they are those of the lower and of the upper bound so far."""

    def __init__(self, low: Limit, high: Limit, fraction: int) -> None:
        self._low, self._high, self._fraction = low, high, fraction
        self.edges: list[list[tuple[Characters, int]]] = [[]]
        self.ends: set[int] = set()
        self._size = 0
        self._bounds = ("", "")  # digits of both, as many as can be compared; none where a bound is far away
        self._known: dict[tuple[int, tuple[bool, bool], bool], int] = {}

    def add(self, size: int) -> None:
        """Numbers with so many digits before the point."""
        (low, low_rest), (high, high_rest) = _digits(self._low.value), _digits(self._high.value)
        width = size + max(self._fraction, len(low_rest), len(high_rest))
        self._bounds = (
            (low + low_rest).ljust(width, "0") if len(low) == size else "",
            (high + high_rest).ljust(width, "0") if len(high) == size else "",
        )
        self._size, self._known = size, {}
        self._follow(0, 0, (len(low) == size, len(high) == size), pointed=False)

    def _follow(self, node: int, place: int, tight: tuple[bool, bool], *, pointed: bool) -> None:
        """Add what may come after so many digits."""
        if place > self._size or (place == self._size and not pointed):  # a point wants a digit behind it
            self._end_at(node, place, tight)
        if place == self._size and not pointed:
            if self._fraction:
                self._lead(node, Characters.of("."), place, tight, pointed=True)
            return
        if place == self._size + self._fraction:
            return
        least = int(self._bounds[0][place]) if tight[0] else 0
        most = int(self._bounds[1][place]) if tight[1] else 9
        if place == 0 and self._size > 1:
            least = max(least, 1)
        for low, high in _runs(least, most, tight):
            after = (tight[0] and low == int(self._bounds[0][place]), tight[1] and high == int(self._bounds[1][place]))
            self._lead(node, Characters.between((0x30 + low, 0x30 + high)), place + 1, after, pointed=pointed)

    def _lead(self, node: int, characters: Characters, place: int, tight: tuple[bool, bool], *, pointed: bool) -> None:
        key = (place, tight, pointed)
        new = key not in self._known
        if new:
            self._known[key] = len(self.edges)
            self.edges.append([])
        self.edges[node].append((characters, self._known[key]))
        if new:
            self._follow(self._known[key], place, tight, pointed=pointed)

    def _end_at(self, node: int, place: int, tight: tuple[bool, bool]) -> None:
        """A number may end if it is within its bounds when zeros follow."""
        low_zeros = not tight[0] or not self._bounds[0][place:].strip("0")
        high_zeros = not tight[1] or not self._bounds[1][place:].strip("0")
        fits_low = not tight[0] or (low_zeros and not self._low.open)
        fits_high = not tight[1] or not high_zeros or not self._high.open
        if fits_low and fits_high:
            self.ends.add(node)


def _runs(least: int, most: int, tight: tuple[bool, bool]) -> list[tuple[int, int]]:
    """Digits from least to most, those at a bound apart from those between."""
    if least > most:
        return []
    edges = ({least} if tight[0] else set()) | ({most} if tight[1] else set())
    middle = [digit for digit in range(least, most + 1) if digit not in edges]
    runs = [(digit, digit) for digit in sorted(edges)]
    return [*runs, (middle[0], middle[-1])] if middle else runs
