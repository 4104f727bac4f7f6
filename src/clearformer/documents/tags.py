"""Tags and character references of HTML, found without changing a byte of them.

A page is not parsed into a tree and written again, which would change quotes, spaces and half of its attributes. Tags
are found where they stand, and whatever is no tag is text.
"""

import html
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

_TAG = re.compile(
    r"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?\]\]>|<[!?][^<>]*>"
    r"|<(?P<close>/?)(?P<name>[a-zA-Z][^\s/<>\"'=]*)(?P<rest>(?:[^<>\"']|\"[^\"]*\"|'[^']*')*+)>",
    re.DOTALL,
)
_REFERENCE = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
_MUST = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


@dataclass(frozen=True)
class MarkupTag:
    """A tag, or a comment or declaration, which has no name. closes: a closing tag; alone: it never has one."""

    start: int
    end: int
    name: str
    closes: bool
    rest: str

    @property
    def alone(self) -> bool:
        return self.name in _VOID or self.rest.rstrip().endswith("/") or not self.name


_VOID = frozenset([
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track",
    "wbr",
])  # fmt: skip


def tags_in(text: str, start: int = 0, end: int | None = None) -> Iterator[MarkupTag]:
    """Every tag, in order."""
    for found in _TAG.finditer(text, start, len(text) if end is None else end):
        name = (found["name"] or "").lower()
        yield MarkupTag(found.start(), found.end(), name, bool(found["close"]), found["rest"] or "")


class CharacterReferences:
    """How a page writes the characters that may be written as references, so that they are written so again."""

    def __init__(self, text: str) -> None:
        spelled: dict[str, Counter[str]] = {}
        for part in references_and_text(text):
            for character, written in _spellings(part):
                spelled.setdefault(character, Counter())[written] += 1
        # of a character with two spellings, the more frequent one; the other is told apart by `words_of`
        self._usual = {one: counts.most_common(1)[0][0] for one, counts in spelled.items()}

    def escape(self, words: str) -> str:
        """Words as this page would write them."""
        return "".join(self._usual.get(one) or _MUST.get(one, one) for one in words)

    def words_of(self, raw: str) -> Iterator[tuple[bool, str]]:
        """A stretch of text in parts: (True, words), or (False, something that words would not be written as again)."""
        words: list[str] = []
        for part in references_and_text(raw):
            for character, written in _spellings(part):
                if (self._usual.get(character) or _MUST.get(character, character)) == written:
                    words.append(character)
                    continue
                if words:
                    yield True, "".join(words)
                yield False, written
                words = []
        if words:
            yield True, "".join(words)


def references_and_text(text: str) -> Iterator[str]:
    """A text in parts, each a reference or without any."""
    last = 0
    for found in _REFERENCE.finditer(text):
        if found.start() > last:
            yield text[last : found.start()]
        yield found[0]
        last = found.end()
    if last < len(text):
        yield text[last:]


def _spellings(part: str) -> Iterator[tuple[str, str]]:
    if _REFERENCE.fullmatch(part):
        character = html.unescape(part)
        # What names no character, or several, or white space that would be lost, is no word.
        known = len(character) == 1 and (not character.isspace() or character == "\u00a0")
        yield (character if known else "\ufffc"), part
    else:
        yield from zip(part, part, strict=True)
