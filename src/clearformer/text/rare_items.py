"""What of a sentence a small model cannot be trusted with: names that it hardly ever saw, codes, numbers.

A word is rare if the text that the model learned from does not have it and it looks like a name: it has a capital or a
digit, or is in another script than the rest of the sentence. Numbers are items of their own, by shape.
"""

import re
from collections.abc import Collection, Sequence
from typing import Literal, NamedTuple

Kind = Literal["name", "digit", "small", "year", "large", "decimal", "time"]
SHAPES: tuple[Kind, ...] = ("digit", "small", "year", "large", "decimal", "time")

LATIN = "A-Za-zÀ-ÖØ-öø-ɏḀ-ỿ"
_NUMBER = rf"(?P<number>\d+(?:[.,:]\d+)*)(?=[a-z]{{1,3}}(?![{LATIN}\d])|(?![{LATIN}\d]))"
_DATE = r"(?P<date>\d{4}-\d\d-\d\d)"
_WORD = rf"(?P<word>[{LATIN}\d]+(?:[-'’&][{LATIN}\d]+)*(?:\+\+|#)?)"
_OTHER = rf"(?P<other>[^\W\d_{LATIN}]+)"
_TOKEN = re.compile(f"{_DATE}|{_NUMBER}|{_WORD}|{_OTHER}")
_SHORT_ENDING = re.compile(r"['’][a-z]{1,2}$")  # Okonkwo's, Okonkwo'll
_TITLE = re.compile(rf"[{LATIN}]{{2,4}}\.\s+[{LATIN}]{{2}}")  # Dr. Okonkwo, Prof. Rossi, St. Petersburg
_LONG_WORD = re.compile(rf"[{LATIN}]{{2,}}")
_PARTS = re.compile(r"[-'’&]")


class Item(NamedTuple):
    """A part of a text, by its place."""

    start: int
    end: int
    text: str
    kind: Kind


def rare_items(text: str, known: Collection[str], script: str) -> list[Item]:
    """The names, codes and numbers of a text, in order. known: words that were seen; script: of the language."""
    found: list[Item] = []
    shouts = text.isupper() and len(_LONG_WORD.findall(text)) > 1
    for match in _TOKEN.finditer(text):
        if match["number"]:
            found.append(Item(*match.span("number"), match["number"], shape(match["number"])))
            continue
        foreign = (match["other"] is None) != (script == "Latin")
        if match["other"] and not foreign:
            continue
        if _TITLE.match(text, match.start()):
            continue
        word = match[0] if match["date"] else _SHORT_ENDING.sub("", match[0])
        if match["date"] or (not shouts and _is_rare(word, known, foreign=foreign)):
            found.append(Item(match.start(), match.start() + len(word), word, "name"))
    return _joined(found, text)


def shape(number: str) -> Kind:
    """What kind of number this is, from how it is written."""
    if ":" in number:
        return "time"
    if re.search(r"[.,]\d{1,2}$|[.,]\d{4,}$", number):
        return "decimal"
    if number.isdigit() and len(number) < 3:
        return "digit" if len(number) == 1 else "small"
    return "year" if number.isdigit() and len(number) == 4 and 1000 <= int(number) < 2100 else "large"


def name_places(name: str, text: str) -> list[re.Match[str]]:
    """Where a name stands letter by letter; it may have a genitive's s."""
    return list(re.finditer(rf"(?<![{LATIN}\d]){re.escape(name)}(?:['’]?s)?(?![{LATIN}\d])", text))


def _is_rare(word: str, known: Collection[str], *, foreign: bool) -> bool:
    if len(word) < 2 or _is_known(word, known):
        return False
    return foreign or any(letter.isupper() or letter.isdigit() for letter in word)


def _is_known(word: str, known: Collection[str]) -> bool:
    if word in known or word.lower() in known or word.capitalize() in known:
        return True
    parts = [part for part in _PARTS.split(word) if part]
    long = [part for part in parts if len(part) > 1]
    return len(parts) > 1 and bool(long) and all(_is_known(part, known) for part in long)  # T-shirt, French-German


def _joined(items: Sequence[Item], text: str) -> list[Item]:
    """Names with nothing but a space between them are one: a given name and a surname."""
    found: list[Item] = []
    for item in items:
        last = found[-1] if found else None
        if last and last.kind == item.kind == "name" and text[last.end : item.start] == " ":
            found[-1] = Item(last.start, item.end, text[last.start : item.end], "name")
        else:
            found.append(item)
    return found
