"""Files as documents: what one result of a search is, and where it stands.

A document is a line, a passage or a whole file. A file that is no text is not guessed at: it is left out, and whoever
asked is told which one and why, while the others are read.
"""

import codecs
import gzip
import logging
import os
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from clearformer.text.sentences import Span, passages

Unit = Literal["passage", "line", "file"]  # what one result is
UNITS: tuple[Unit, ...] = get_args(Unit)
OnLeftOut = Callable[[str], None]  # told why a file is left out

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_GZIP = b"\x1f\x8b"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Document:
    """A text, the name of its file, and where it begins there: the line from 1, the character from 0."""

    text: str
    file: str
    line: int
    start: int


def warn_of(reason: str) -> None:
    """Say at once why a file is left out."""
    log.warning("left out: %s", reason)


class NotTextError(ValueError):
    """A file that cannot be read as UTF-8 text; the message says where and what to do."""


def find_files(
    given: Iterable[str | Path], *, without: Path | None = None, on_left_out: OnLeftOut = warn_of
) -> list[Path]:
    """The files that are named, and those in folders that are named, hidden ones left out. Each once, in order.

    without: a folder that is passed over, such as the index itself. on_left_out: told of each file that is no use.
    """
    found: dict[Path, Path] = {}
    for one in map(Path, given):
        if not one.exists():
            raise ValueError(f"there is no file or folder {one}")
        for path in _walk(one, None if without is None else without.resolve()) if one.is_dir() else [one]:
            if _is_utf8(path, on_left_out):
                found.setdefault(path.resolve(), path)
    return list(found.values())


def read_documents(files: Sequence[Path], unit: Unit, on_left_out: OnLeftOut = warn_of) -> Iterator[Document]:
    """The documents of files, in order."""
    for path in files:
        try:
            text = read_text(path)
        except (NotTextError, OSError) as error:
            reason = error if isinstance(error, NotTextError) else f"{path}: {error.strerror or error}"
            on_left_out(str(reason))
            continue
        if not text.strip():
            on_left_out(f"{path} is empty")
            continue
        yield from split(text, str(path), unit)


def split(text: str, file: str, unit: Unit) -> Iterator[Document]:
    """The documents of one text."""
    ends = [place for place, character in enumerate(text) if character == "\n"]
    for start, end in _CUTS[unit](text):
        yield Document(text[start:end], file, 1 + bisect_right(ends, start - 1), start)


def read_text(path: Path) -> str:
    """The whole text of a file, plain or gzipped, without a byte order mark."""
    raw = path.read_bytes()
    if raw.startswith(_GZIP):
        try:
            raw = gzip.decompress(raw)
        except (EOFError, OSError, zlib.error) as error:
            raise NotTextError(f"{path} is a damaged gzip file ({error})") from error
    if raw.startswith(_UTF16):
        raise NotTextError(f"{path} begins like UTF-16; save it as UTF-8")
    if (zero := raw.find(b"\0")) >= 0:
        raise NotTextError(f"{path} is not text: it has a zero byte at offset {zero:,}")
    try:
        return raw.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        line = 1 + error.object.count(b"\n", 0, error.start)
        byte = error.object[error.start]
        raise NotTextError(f"{path}:{line} has the byte 0x{byte:02x}, which is not UTF-8; save it as UTF-8") from error


def _lines(text: str) -> Iterator[Span]:
    """Lines that have words, without white space at their ends; only a line feed ends a line."""
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        line = text[start:end]
        if line.strip():
            begin = start + len(line) - len(line.lstrip())
            yield begin, begin + len(line.strip())
        start = end + 1


def _whole(text: str) -> list[Span]:
    begin = len(text) - len(text.lstrip())
    return [(begin, len(text.rstrip()))]


_CUTS: dict[Unit, Callable[[str], Iterable[Span]]] = {"passage": passages, "line": _lines, "file": _whole}


def _walk(folder: Path, without: Path | None) -> Iterator[Path]:
    for one in sorted(folder.iterdir()):
        if one.name.startswith(".") or (without is not None and one.resolve() == without):
            continue
        if one.is_dir() and not one.is_symlink():  # a link may lead back up, again and again
            yield from _walk(one, without)
        elif one.is_file():
            yield one


def _is_utf8(path: Path, on_left_out: OnLeftOut) -> bool:
    """An index is text and cannot hold a name that is not."""
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        shown = os.fsencode(path).decode("utf-8", "backslashreplace")
        on_left_out(f"{shown} has a name that is not UTF-8; rename it")
        return False
    return True
