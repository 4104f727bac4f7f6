"""The idea that all formats share: a document is bytes, and some stretches of it are text.

A format finds the stretches (segments) and how words are written in them; whatever lies outside is copied. Inside, a
segment consists of words, of items that a sentence speaks of (a placeholder, a piece of code), of marks around words (a
tag, an asterisk), of line ends inside sentences (breaks), which a translation gets back in about the same places, and
of those that no sentence crosses (stops).
"""

import codecs
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

Kind = Literal["words", "kept", "mark", "break", "stop"]
MOST_BYTES = 64 << 20  # of a document; larger ones are to be split


class DocumentError(ValueError):
    """A document cannot be read; the message names file and line and says what to do."""


@dataclass(frozen=True)
class Fragment:
    """A part of a segment. words: as somebody reads them. Everything else: as the file has it."""

    text: str
    kind: Kind = "words"


@dataclass(frozen=True)
class TextSegment:
    """A stretch of a document's text, from start up to end, and what it consists of."""

    start: int
    end: int
    pieces: tuple[Fragment, ...]


class OpenDocument(Protocol):
    """What every format offers."""

    @property
    def segments(self) -> Sequence[TextSegment]:
        """What is text, in order."""

    def place(self, segment: TextSegment) -> str:
        """Where a segment stands, for messages: letter.txt:7."""

    def rebuilt(self, translated: Sequence[Sequence[Fragment]]) -> bytes:
        """The document with other pieces in its segments."""


def plain(words: str) -> str:
    """How words are written where nothing has to be escaped."""
    return words


@dataclass(frozen=True)
class TextDocument:
    """A document that is one text in UTF-8. escape: how words are written in this format. mark: the byte order mark."""

    path: Path
    text: str
    segments: tuple[TextSegment, ...]
    escape: Callable[[str], str] = plain
    mark: bytes = b""

    def place(self, segment: TextSegment) -> str:
        return f"{self.path}:{line_of(self.text, segment.start)}"

    def rebuilt(self, translated: Sequence[Sequence[Fragment]]) -> bytes:
        return self.mark + spliced(self.text, self.segments, translated, self.escape).encode("utf-8")


def spliced(
    text: str,
    segments: Sequence[TextSegment],
    translated: Sequence[Sequence[Fragment]],
    escape: Callable[[str], str] = plain,
) -> str:
    """A text with other pieces in its segments."""
    parts, last = [], 0
    for segment, pieces in zip(segments, translated, strict=True):
        parts.append(text[last : segment.start])
        parts.extend(escape(piece.text) if piece.kind == "words" else piece.text for piece in pieces)
        last = segment.end
    return "".join([*parts, text[last:]])


def read_text(path: Path, data: bytes) -> tuple[str, bytes]:
    """The text of a file and its byte order mark; line ends stay as they are."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise DocumentError(f"{path}:1 begins like UTF-16; convert it with `iconv -f UTF-16 -t UTF-8`")
    mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    try:
        text = data[len(mark) :].decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, len(mark) + error.start) + 1
        raise DocumentError(
            f"{path}:{line} holds byte 0x{data[len(mark) + error.start]:02x}, which is not UTF-8; convert the file, as "
            "with `iconv -f ISO-8859-1 -t UTF-8`"
        ) from None
    if "\0" in text:
        raise DocumentError(f"{path}:{line_of(text, text.index(chr(0)))} holds a null byte; it is no text")
    return text, mark


def read_bytes(path: Path) -> bytes:
    """A whole file, if it is one and not too large."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise DocumentError(f"{path} has more than {MOST_BYTES:,} bytes; split it")
        return path.read_bytes()
    except OSError as error:
        raise DocumentError(f"{path} cannot be read ({error.strerror}); check the name") from None


def line_of(text: str, place: int) -> int:
    """The number of the line that a place is in, from 1."""
    return text.count("\n", 0, place) + 1


def has_words(text: str) -> bool:
    """Whether there is anything to translate: numbers, rules and signs are the same in every language."""
    return any(character.isalpha() for character in text)


def merged(pieces: Iterable[Fragment]) -> Iterator[Fragment]:
    """The same pieces with neighbouring words, and neighbouring marks, as one."""
    last: Fragment | None = None
    for piece in pieces:
        if last is not None and piece.kind == last.kind and piece.kind in ("words", "mark"):
            last = Fragment(last.text + piece.text, piece.kind)
            continue
        if last is not None and last.text:
            yield last
        last = piece
    if last is not None and last.text:
        yield last
