"""Suspicious characters in a line: one check, fast when there is nothing to find."""

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from clearformer.text.doctor.findings import Kind


class Suspect(NamedTuple):
    """What was seen in a line, and where."""

    kind: Kind
    position: int
    detail: str


# Everything except LF at which str.splitlines, editors or JavaScript would begin a new line.
_SEPARATOR = re.compile("[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")

# Not UTF-8: see read_lines.
_BROKEN = re.compile("[\ud800-\udfff]")

# The second and later bytes of UTF-8, as they look in Latin-1 and in Windows-1252.
_TAIL = "[\x80-\xbf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]"
# Ã¼ Â» â€œ Å¡ are enough. Other first bytes are letters that may well stand before such a sign (É» in French, Ä“ in
# German), so they count only in runs, as they come in Cyrillic, Greek or Chinese: Ð¿Ñ€Ð¸, ä½ å¥½.
_MOJIBAKE = re.compile(
    f"[ÂÃ]{_TAIL}|â€{_TAIL}|[ÄÅ][\x80-\x9f¡-ª¬-º¼-¿]|(?:[Ä-ß]{_TAIL}){{3}}|(?:[à-ï]{_TAIL}{{2}}){{2}}"
)


def suspects(line: str) -> Iterator[Suspect]:
    """Everything suspicious about one line, each kind at its first place."""
    if not line.isprintable():
        if _BROKEN.search(line):
            return  # already reported as invalid UTF-8; its appearance adds nothing
        yield from _invisible(line)
    if "\ufffd" in line:
        yield Suspect(Kind.REPLACEMENT_CHARACTER, line.index("\ufffd"), "")
    if not line.isascii() and (found := _MOJIBAKE.search(line)):
        yield Suspect(Kind.MOJIBAKE, found.start(), f"{found.group()!r}")
    if line and (line[0].isspace() or line[-1].isspace()) and not line.isspace():
        yield Suspect(Kind.EDGE_SPACE, 0 if line[0].isspace() else len(line) - 1, "")


def _invisible(line: str) -> Iterator[Suspect]:
    if found := _SEPARATOR.search(line):
        yield Suspect(Kind.LINE_SEPARATOR, found.start(), f"U+{ord(found.group()):04X}")
    if "\ufeff" in line:
        yield Suspect(Kind.BOM_INSIDE, line.index("\ufeff"), "")
    for position, character in enumerate(line):
        if not character.isprintable() and unicodedata.category(character) in ("Cn", "Co"):
            yield Suspect(Kind.UNASSIGNED_CHARACTER, position, f"U+{ord(character):04X}")
            return
