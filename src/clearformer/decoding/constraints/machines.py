"""Patterns as machines over characters, so that their texts can be counted: a pattern and a length at once.

Glushkov's construction (1961): a state for each letter of the pattern, entered by that letter, and no empty steps.
"""

from dataclasses import dataclass

from clearformer.decoding.constraints.byte_network import TooLargeError
from clearformer.decoding.constraints.character_sets import Characters
from clearformer.decoding.constraints.grammar import Either, Letter, LetterMachine, Part, Repeat, Series

MOST_EDGES = 100_000


@dataclass(frozen=True)
class _Span:
    """A part's letters that can come first and last, and whether it may be empty."""

    first: tuple[int, ...]
    last: tuple[int, ...]
    empty: bool


class _Positions:
    """The letters of a pattern, numbered from 1, and which may follow which."""

    def __init__(self) -> None:
        self.letters: list[Characters] = [Characters(())]
        self.follow: list[set[int]] = [set()]
        self._edges = 0

    def span(self, part: Part) -> _Span:
        match part:
            case Letter(characters):
                self.letters.append(characters)
                self.follow.append(set())
                place = (len(self.letters) - 1,)
                return _Span(place, place, False)
            case Series(parts):
                found = _Span((), (), True)
                for one in parts:
                    found = self._then(found, self.span(one))
                return found
            case Either(options):
                spans = [self.span(one) for one in options]
                first = tuple(place for one in spans for place in one.first)
                last = tuple(place for one in spans for place in one.last)
                return _Span(first, last, any(one.empty for one in spans))
            case Repeat():
                return self._repeat(part)
        raise TypeError(f"a {type(part).__name__} is no part of a pattern")

    def _repeat(self, part: Repeat) -> _Span:
        found = _Span((), (), True)
        for _ in range(part.least):
            found = self._then(found, self.span(part.part))
        if part.most is None:
            loop = self.span(part.part)
            self._lead(loop.last, loop.first)
            return self._then(found, _Span(loop.first, loop.last, True))
        rest = _Span((), (), True)
        for _ in range(part.most - part.least):  # from behind: (x(x(x)?)?)?
            inner = self._then(self.span(part.part), rest)
            rest = _Span(inner.first, inner.last, True)
        return self._then(found, rest)

    def _then(self, one: _Span, other: _Span) -> _Span:
        self._lead(one.last, other.first)
        first = (*one.first, *other.first) if one.empty else one.first
        last = (*one.last, *other.last) if other.empty else other.last
        return _Span(first, last, one.empty and other.empty)

    def _lead(self, ones: tuple[int, ...], others: tuple[int, ...]) -> None:
        self._edges += len(ones) * len(others)
        if self._edges > MOST_EDGES or len(self.letters) > MOST_EDGES:
            raise TooLargeError("the pattern is too large; use smaller repetitions")
        for one in ones:
            self.follow[one].update(others)


def machine_of(part: Part) -> LetterMachine:
    """A machine for a pattern without references."""
    positions = _Positions()
    whole = positions.span(part)
    following = [whole.first, *(sorted(places) for places in positions.follow[1:])]
    edges = tuple(tuple((positions.letters[place], place) for place in places) for places in following)
    return LetterMachine(edges, frozenset(whole.last) | ({0} if whole.empty else set()))


def with_length(machine: LetterMachine, least: int, most: int | None) -> LetterMachine:
    """The texts of a machine that have so many characters: its states, each with a count beside it."""
    numbers = {(0, 0): 0}
    reached = [(0, 0)]  # grows while it is walked
    edges: list[tuple[tuple[Characters, int], ...]] = []
    ends, total = set(), 0
    for number, (state, count) in enumerate(reached):
        if state in machine.ends and count >= least:
            ends.add(number)
        after = min(count + 1, least) if most is None else count + 1
        found = []
        for characters, target in machine.edges[state] if most is None or after <= most else ():
            if (target, after) not in numbers:
                numbers[target, after] = len(reached)
                reached.append((target, after))
            found.append((characters, numbers[target, after]))
        edges.append(tuple(found))
        total += len(found)
        if total > MOST_EDGES:
            raise TooLargeError("the pattern is too large to be counted; use a smaller maxLength or repetitions")
    return LetterMachine(tuple(edges), frozenset(ends), machine.quoted)
