"""Read a text file line by line, plain or gzipped, in constant memory, and never guess.

A line ends at LF and nowhere else. Python's str.splitlines also splits at U+2028, U+0085, VT, FF and others; two
parallel files read that way shift against each other at the first such character, and nobody notices. Decoding is
strict UTF-8. What is taken off, and reported, is a byte order mark at the start and the CR of CR LF.
"""

import codecs
import gzip
import io
import logging
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO

from clearformer.text.doctor.findings import Finding, Kind, Severity, excerpt

# What a reader tells about a file: kind, line (None: the whole file), detail, the text of the line, how many lines.
Notice = Callable[[Kind, int | None, str, str, int], None]

# A file without line ends must not fill the memory. What is longer is cut, and the rest of the line is skipped; a cut
# line has more characters than any limit allows, so it is left out as too long wherever it is met.
MAX_LINE_BYTES = 1 << 24

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

_log = logging.getLogger(__name__)


class TextFileError(ValueError):
    """A file cannot be read as lines of text; the message says where and what to do."""


def read_lines(path: Path | str, notice: Notice | None = None) -> Iterator[str]:
    """The lines of a file, without their ends.

    Alone, it raises TextFileError at what cannot be read and logs the rest. With `notice` (as the doctor uses it) it
    reports everything and continues: bytes that are not UTF-8 arrive as surrogates U+DC80 to U+DCFF.
    """
    path = Path(path)
    tell = notice or _raise_or_log(str(path))
    ends = _LineEnds()
    try:
        with _opened(path) as file:
            yield from _lines(file, ends, tell)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        tell(Kind.DAMAGED_GZIP, ends.lines + 1, str(error).rstrip("."), "", 1)
    except OSError as error:
        tell(Kind.UNREADABLE, None, error.strerror or str(error), "", 1)


def peek_lines(path: Path, count: int) -> list[str]:
    """The first lines of a file, for a look at what it is: whoever reads it later reports what is wrong."""
    return list(islice(read_lines(path, lambda kind, line, detail, text, lines: None), count))


def read_stream(file: IO[bytes], name: str) -> Iterator[str]:
    """The same from something that is open already, such as standard input, line by line as they arrive.

    name: what to call it in messages. That its last line has no end is usual and not worth a word.
    """
    return _lines(file, _LineEnds(), _raise_or_log(name, least=logging.WARNING))


def read_quietly(path: Path | str) -> Iterator[str]:
    """The lines of a file whose problems have been reported already."""
    return read_lines(path, lambda *_: None)


def _lines(file: IO[bytes], ends: "_LineEnds", tell: Notice) -> Iterator[str]:
    offset = 0
    for number, (raw, size) in enumerate(_raw_lines(file), start=1):
        if number == 1 and raw.startswith(_UTF16):
            tell(Kind.UNREADABLE, 1, "it begins like UTF-16, not UTF-8", "", 1)
            return
        yield _decoded(ends.strip(raw, number), size, offset, number, tell)
        offset += size
    ends.report(tell)


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """The first two bytes decide, not the name: no UTF-8 text begins like gzip."""
    with path.open("rb") as file:
        if file.peek(2)[:2] == b"\x1f\x8b":
            with io.BufferedReader(gzip.GzipFile(fileobj=file)) as unpacked:  # readline in C instead of in Python
                yield unpacked
        else:
            yield file


def _raw_lines(file: IO[bytes]) -> Iterator[tuple[bytes, int]]:
    """Each line with its end, and how many bytes it takes in the file (more than it has if it was cut)."""
    while raw := file.readline(MAX_LINE_BYTES):
        size = len(raw)
        if size == MAX_LINE_BYTES and not raw.endswith(b"\n"):
            while rest := file.readline(MAX_LINE_BYTES):
                size += len(rest)
                if rest.endswith(b"\n"):
                    raw += b"\n"
                    break
        yield raw, size


def _decoded(raw: bytes, size: int, offset: int, number: int, tell: Notice) -> str:
    cut = size >= MAX_LINE_BYTES  # then the last character may be incomplete, which is not the file's fault
    if number == 1 and raw.startswith(codecs.BOM_UTF8):
        tell(Kind.BOM_AT_START, 1, "", raw[:200].decode("utf-8", "replace"), 1)
        raw, offset = raw[3:], offset + 3
    try:
        return codecs.utf_8_decode(raw, "strict", not cut)[0]
    except UnicodeDecodeError as error:
        text = raw.decode("utf-8", "surrogateescape")
        detail = (
            f"byte 0x{raw[error.start]:02x} at offset {offset + error.start} of the file, {error.start} of the line"
        )
        tell(Kind.INVALID_UTF8, number, detail, text, 1)
        return text


class _LineEnds:
    """Removes line ends and counts their kinds."""

    def __init__(self) -> None:
        self.lines = 0
        self._crlf = 0
        self._lf = 0
        self._first_crlf = 0
        self._first_lf = 0

    def strip(self, raw: bytes, number: int) -> bytes:
        self.lines = number
        if raw.endswith(b"\r\n"):
            self._crlf += 1
            self._first_crlf = self._first_crlf or number
            return raw[:-2]
        if raw.endswith(b"\n"):
            self._lf += 1
            self._first_lf = self._first_lf or number
            return raw[:-1]
        return raw

    def report(self, tell: Notice) -> None:
        if self._crlf and self._lf:
            odd_one = max(self._first_crlf, self._first_lf)
            tell(Kind.MIXED_LINE_ENDS, odd_one, f"{self._crlf:,} CR LF, {self._lf:,} LF", "", min(self._crlf, self._lf))
        elif self._crlf:
            tell(Kind.CRLF, 1, "", "", self._crlf)
        if self.lines > self._crlf + self._lf:
            tell(Kind.NO_FINAL_NEWLINE, self.lines, "", "", 1)


def _raise_or_log(name: str, least: int = logging.INFO) -> Notice:
    table = name.lower().removesuffix(".gz").endswith((".csv", ".tsv"))

    def tell(kind: Kind, line: int | None, detail: str, text: str, count: int) -> None:
        if kind is Kind.CRLF and table:
            return  # lines of a table end so by its standard
        finding = Finding(kind=kind, file=name, line=line, detail=detail, excerpt=excerpt(text))
        if kind.severity is Severity.FATAL:
            raise TextFileError(str(finding))
        level = logging.WARNING if kind.severity is Severity.WARNING else logging.INFO
        if level >= least:
            _log.log(level, "%s", finding)

    return tell
