"""Words that stand in for what a translator must not touch, and are exchanged for it afterwards.

A small model has never seen a placeholder or an address, and writes nonsense for it. It has seen names. So a name
stands in, and if it comes out once, it is exchanged again. A model that was taught to copy a mark of its own says so in
its folder's provenance (`stand_in`, such as "⟦{}⟧").
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from clearformer.text.language import code_of

# The same names in every language; most models have met them in many sentences.
_NAMES = {
    "": ("Tom", "Boston", "Harvard", "Berlin"),
    "zh": ("汤姆", "波士顿", "哈佛", "柏林"),
}
MOST = 9  # marks of a model's own that one sentence may hold


class StandIn(NamedTuple):
    """A word as the source has it, and as a good translation has it."""

    source: str
    target: str


def stand_ins(source: str | None, target: str | None, own: object = None) -> tuple[StandIn, ...]:
    """The stand-ins for a pair of languages. own: the pattern that the model's folder names."""
    if isinstance(own, str) and "{}" in own:
        marks = [own.replace("{}", str(number)) for number in range(1, MOST + 1)]
        return tuple(StandIn(mark, mark) for mark in marks)
    sides = [_NAMES.get(code_of(language or ""), _NAMES[""]) for language in (source, target)]
    return tuple(map(StandIn, *sides))


def unused(known: Sequence[StandIn], text: str) -> list[StandIn]:
    """Those that cannot be confused with a word of this text."""
    return [one for one in known if one.source not in text and one.target not in text]


def exchanged(text: str, used: Sequence[StandIn]) -> list[str | int] | None:
    """A translation in parts: words, and the number of each stand-in; None unless each is there exactly once."""
    if not used:
        return [text]
    pattern = "|".join(_bounded(one.target) for one in used)
    numbers = {one.target: number for number, one in enumerate(used)}
    parts: list[str | int] = []
    last = 0
    for found in re.finditer(pattern, text):
        parts += [text[last : found.start()], numbers[found[0]]]
        last = found.end()
    parts.append(text[last:])
    if sorted(part for part in parts if isinstance(part, int)) != list(range(len(used))):
        return None
    rest = "".join(part for part in parts if isinstance(part, str))
    return None if any(one.target in rest for one in used) else parts


def _bounded(word: str) -> str:
    """Toms is not Tom; Chinese has no such ends."""
    escaped = re.escape(word)
    return rf"\b{escaped}\b" if word.isascii() and word.isalpha() else escaped
