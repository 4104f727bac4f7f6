"""Regular expressions, read into a grammar. What cannot be honoured is refused with its place.

Understood as Python's `re` does with its ASCII flag: letters, `.`, classes, groups, `|`, `* + ? {n,m}` (also lazy: that
changes no text that fits), escapes. A pattern is the whole text, so `^` and `$` are allowed at its ends only. There are
no backreferences, no looking around and no flags: an automaton has no memory for them.
"""

from dataclasses import dataclass

from clearformer.decoding.constraints.character_sets import EVERY, Characters
from clearformer.decoding.constraints.grammar import Either, Grammar, Letter, Part, Repeat, Series

LONGEST, DEEPEST, MOST_TIMES = 10_000, 100, 10_000  # characters of a pattern, groups in groups, repetitions

DIGITS = Characters.between((0x30, 0x39))
WORDS = Characters.between((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
SPACES = Characters.of(" \t\n\r\f\v")
DOT = EVERY - Characters.of("\n")
_CLASSES = {"d": DIGITS, "D": ~DIGITS, "w": WORDS, "W": ~WORDS, "s": SPACES, "S": ~SPACES}
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a", "0": "\0"}
_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}
_GROUPS = {  # what may stand behind (?, and why some of it may not
    "?=": "looking ahead", "?!": "looking ahead", "?<=": "looking back", "?<!": "looking back",
    "?P=": "a backreference", "?(": "a condition", "?>": "an atomic group", "?#": "a remark",
}  # fmt: skip


class PatternError(ValueError):
    """A pattern that cannot be honoured, with the place of the character that is to blame."""

    def __init__(self, place: int, reason: str) -> None:
        super().__init__(f"pattern, character {place + 1}: {reason}")
        self.place, self.reason = place, reason


@dataclass(frozen=True)
class Alternative:
    """One branch of a pattern's outermost level, and whether it said ^ and $."""

    part: Part
    from_start: bool
    to_end: bool


def whole_match(pattern: str) -> Grammar:
    """The texts that the pattern matches from beginning to end."""
    return Grammar(Either(tuple(one.part for one in _PatternReader(pattern).read())), {})


def search_match(pattern: str) -> Part:
    """The texts that have a match somewhere, as in a JSON schema; ^ and $ say that it is at the beginning or end."""
    anything = Repeat(Letter(EVERY), 0, None)
    return Either(
        tuple(
            Series((*([] if one.from_start else [anything]), one.part, *([] if one.to_end else [anything])))
            for one in _PatternReader(pattern).read()
        )
    )


class _PatternReader:
    """Reads a pattern from left to right."""

    def __init__(self, pattern: str) -> None:
        if len(pattern) > LONGEST:
            raise PatternError(LONGEST, f"a pattern of {len(pattern):,} characters is too long; at most {LONGEST:,}")
        self._pattern, self._at, self._depth = pattern, 0, 0

    def read(self) -> list[Alternative]:
        found = [self._alternative()]
        while self._take("|"):
            found.append(self._alternative())
        if self._at < len(self._pattern):
            raise PatternError(self._at, "this ) closes nothing")
        return found

    def _alternative(self) -> Alternative:
        from_start = self._take("^") or self._take("\\A")
        part = self._series()
        to_end = self._take("$") or self._take("\\Z")
        if self._at < len(self._pattern) and self._pattern[self._at] not in "|)":
            raise PatternError(self._at - 1, "$ stands at the end of a pattern only")
        return Alternative(part, from_start, to_end)

    def _series(self) -> Part:
        parts: list[Part] = []
        while self._at < len(self._pattern) and not self._sees("|", ")", "$", "\\Z"):
            parts.append(self._repeated(self._atom()))
        return parts[0] if len(parts) == 1 else Series(tuple(parts))

    def _atom(self) -> Part:
        place, letter = self._at, self._next()
        if letter == "(":
            return self._group(place)
        if letter == "[":
            return Letter(self._class(place))
        if letter == ".":
            return Letter(DOT)
        if letter == "\\":
            return Letter(self._escape(place))
        if letter == "^":
            raise PatternError(place, "^ stands at the beginning of a pattern only")
        if letter in "*+?":
            raise PatternError(place, f"there is nothing before {letter} to repeat")
        return Letter(Characters.of(letter))

    def _group(self, place: int) -> Part:
        for sign, what in _GROUPS.items():
            if self._sees(sign):
                raise PatternError(place, f"{what} cannot be honoured; write the pattern without it")
        if self._take("?P<") or self._take("?<"):
            while (letter := self._next()) != ">":  # a name changes no text that fits
                if not (letter.isalnum() or letter == "_"):
                    raise PatternError(self._at - 1, "a group's name has letters, digits and _ only")
        elif not self._take("?:") and self._sees("?"):
            raise PatternError(place, "flags cannot be honoured; spell out what they mean")
        self._depth += 1
        if self._depth > DEEPEST:
            raise PatternError(place, f"more than {DEEPEST} groups in one another are too deep")
        options = [self._series()]
        while self._take("|"):
            options.append(self._series())
        if not self._take(")"):
            if self._at < len(self._pattern):
                raise PatternError(self._at, "$ stands at the end of a pattern only")
            raise PatternError(place, "this ( is never closed")
        self._depth -= 1
        return options[0] if len(options) == 1 else Either(tuple(options))

    def _repeated(self, part: Part) -> Part:
        place = self._at
        times = self._times()
        if times is None:
            return part
        self._take("?")  # as few as possible: the same texts
        again = self._at
        if self._take("+") or self._times() is not None:
            raise PatternError(again, "a repetition cannot be repeated; put it into a group")
        least, most = times
        if max(least, most or 0) > MOST_TIMES:
            raise PatternError(place, f"at most {MOST_TIMES:,} repetitions can be counted")
        if most is not None and least > most:
            raise PatternError(place, f"at least {least} and at most {most} times is never")
        return Repeat(part, least, most)

    def _times(self) -> tuple[int, int | None] | None:
        for sign, least, most in (("*", 0, None), ("+", 1, None), ("?", 0, 1)):
            if self._take(sign):
                return least, most
        end = self._pattern.find("}", self._at)
        if not self._sees("{") or end < 0:
            return None
        low, comma, high = self._pattern[self._at + 1 : end].partition(",")
        if comma and not low and not high:
            raise PatternError(self._at, "{,} says nothing; write *")
        if not (low + high).isascii() or not (low + high).isdigit() or (not low and not high):
            return None  # a brace like any other letter
        if (low and not low.isdigit()) or (high and not high.isdigit()) or len(low + high) > 12:
            return None
        self._at = end + 1
        least = int(low or 0)
        return least, int(high) if high else (None if comma else least)

    def _class(self, place: int) -> Characters:
        inverted = self._take("^")
        found, first = Characters(()), True
        while first or not self._take("]"):
            if self._at >= len(self._pattern):
                raise PatternError(place, "this [ is never closed")
            found |= self._range()
            first = False
        return ~found if inverted else found

    def _range(self) -> Characters:
        place, low = self._at, self._in_class()
        if not self._sees("-") or self._pattern[self._at + 1 : self._at + 2] in ("]", ""):
            return low
        self._next()
        high = self._in_class()
        [(first, single), *more] = low.ranges
        [(_, last), *others] = high.ranges
        if more or others or first != single or high.ranges[0][0] != last:
            raise PatternError(place, "a range goes from one character to another, not to a class")
        if first > last:
            raise PatternError(place, f"the range {chr(first)}-{chr(last)} runs backwards")
        return Characters.between((first, last)) & EVERY

    def _in_class(self) -> Characters:
        place, letter = self._at, self._next()
        if letter == "\\":
            return Characters.of("\b") if self._take("b") else self._escape(place)
        return Characters.of(letter)

    def _escape(self, place: int) -> Characters:
        letter = self._next()
        if letter in _CLASSES:
            return _CLASSES[letter]
        if letter in _HEX_DIGITS:
            return self._by_number(place, _HEX_DIGITS[letter])
        if letter in _CONTROLS:
            if letter == "0" and self._pattern[self._at : self._at + 1].isdigit():
                raise PatternError(place, "octal numbers are not understood; write \\x41")
            return Characters.of(_CONTROLS[letter])
        if letter.isdigit():
            raise PatternError(place, "a backreference cannot be honoured; write the pattern without it")
        if letter.isalpha():
            raise PatternError(place, f"\\{letter} is not understood; write the characters themselves")
        return Characters.of(letter)

    def _by_number(self, place: int, count: int) -> Characters:
        digits = self._pattern[self._at : self._at + count]
        try:
            if len(digits) < count or not digits.isalnum():
                raise ValueError
            number = int(digits, 16)
        except ValueError:
            raise PatternError(place, f"here {count} hexadecimal digits are wanted") from None
        self._at += count
        if not Characters.between((number, number)) & EVERY:
            raise PatternError(place, f"there is no character of the number {digits}")
        return Characters.between((number, number))

    def _next(self) -> str:
        if self._at >= len(self._pattern):
            raise PatternError(max(self._at - 1, 0), "the pattern ends too soon")
        letter = self._pattern[self._at]
        if letter not in EVERY:
            raise PatternError(self._at, "half a surrogate pair is no character")
        self._at += 1
        return letter

    def _sees(self, *signs: str) -> bool:
        return any(self._pattern.startswith(sign, self._at) for sign in signs)

    def _take(self, sign: str) -> bool:
        if not self._sees(sign):
            return False
        self._at += len(sign)
        return True
