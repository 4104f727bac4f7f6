"""The pieces that JSON text is written with, as `json.dumps` writes them: strings, numbers, any value."""

import json
from typing import Any

from clearformer.decoding.constraints.character_sets import EVERY, Characters
from clearformer.decoding.constraints.grammar import Either, Letter, Part, Repeat, RuleCall, Series, text

_SHORT = {'"': '"', "\\": "\\", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}
_RAW = EVERY - Characters.between((0, 0x1F)) - Characters.of('"\\')
ANY, CHARACTER = "any value", "any character"  # the names of rules: of a value, and of a character in a string
COMMA, COLON = text(", "), text(": ")


def quoted(characters: Characters) -> Part:
    """One of these characters inside a string: as itself, or escaped where JSON wants that."""
    options: list[Part] = [Letter(raw)] if (raw := characters & _RAW) else []
    wanted = [chr(number) for low, high in (characters - _RAW).ranges for number in range(low, high + 1)]
    escapes: list[Part] = []
    if short := "".join(_SHORT[letter] for letter in wanted if letter in _SHORT):
        escapes.append(Letter(Characters.of(short)))
    for first in "01":  # \u0000 to \u001f, but for those that have a short one
        codes = [f"{ord(letter):02x}" for letter in wanted if letter not in _SHORT]
        if last := "".join(code[1] for code in codes if code[0] == first):
            escapes.append(Series((text(f"u00{first}"), Letter(Characters.of(last)))))
    if escapes:
        options.append(Series((text("\\"), Either(tuple(escapes)))))
    return options[0] if len(options) == 1 else Either(tuple(options))


def string(inner: Part) -> Part:
    """A string whose characters, escaped already, are these."""
    return Series((text('"'), inner, text('"')))


def literal(value: Any) -> Part:
    """Exactly this value."""
    return text(json.dumps(value, ensure_ascii=False, allow_nan=False))


def listed(item: Part, least: int, most: int | None) -> Part:
    """So many items with commas between them; most: at least one."""
    rest = Repeat(Series((COMMA, item)), max(least - 1, 0), None if most is None else most - 1)
    some = Series((item, rest))
    return some if least else Either((Series(()), some))


def between(first: str, inner: Part, last: str) -> Part:
    """Brackets or braces around it."""
    return Series((text(first), inner, text(last)))


def string_between(least: int, most: int | None) -> Part:
    """A string of so many characters, each a call of the rule CHARACTER: a thousand of them are a thousand nodes."""
    return string(Repeat(RuleCall(CHARACTER), least, most))


ANY_STRING = string(Repeat(quoted(EVERY), 0, None))
# Fifteen digits are as many as every program keeps exactly.
_DIGITS, _FIRST = Letter(Characters.between((0x30, 0x39))), Letter(Characters.between((0x31, 0x39)))
INTEGER = Series((Repeat(text("-"), 0, 1), Either((text("0"), Series((_FIRST, Repeat(_DIGITS, 0, 14)))))))
NUMBER = Series((INTEGER, Repeat(Series((text("."), Repeat(_DIGITS, 1, 15))), 0, 1)))


def any_value() -> Part:
    """The rule ANY, which refers to itself."""
    inner = RuleCall(ANY)
    member = Series((ANY_STRING, COLON, inner))
    plain = (literal(None), literal(True), literal(False), NUMBER, ANY_STRING)
    return Either((*plain, between("[", listed(inner, 0, None), "]"), between("{", listed(member, 0, None), "}")))
