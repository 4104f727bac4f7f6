"""Standard input, output and error: always UTF-8, and a sentence where one of them is closed.

Python takes the encoding from the locale and sets a closed stream to None, so that the first print ends in an
AttributeError. Bytes that are not UTF-8 travel as lone surrogates: file names come out as they went in, and texts are
refused where they are read (`use`).
"""

import io
import os
import sys
from typing import NoReturn, TextIO

# These verbs leave their result in a folder or a page; what they print besides may be lost.
WRITES_A_FOLDER = frozenset({"train", "distill", "import", "export", "quantize", "explain", "studio"})


class ClosedStreamError(ValueError):
    """Something was read from, or written to, a stream that the shell has closed."""


class _Closed(io.TextIOBase):
    """Stands in for a closed stream and says so when it is used."""

    def __init__(self, sentence: str) -> None:
        self._sentence = sentence

    def write(self, text: str, /) -> NoReturn:
        raise ClosedStreamError(self._sentence)

    def read(self, size: int | None = -1, /) -> NoReturn:
        raise ClosedStreamError(self._sentence)

    def readline(self, size: int = -1, /) -> NoReturn:  # type: ignore[override]
        raise ClosedStreamError(self._sentence)

    @property
    def buffer(self) -> NoReturn:
        raise ClosedStreamError(self._sentence)


def prepare() -> None:
    """Make the three streams usable, whatever the locale and the shell made of them."""
    _fill_descriptors()
    if sys.stdin is None:
        sys.stdin = _Closed("standard input is closed; give texts as arguments or with --input FILE")
    if sys.stdout is None:
        sys.stdout = _Closed("standard output is closed, and the result goes there; open it, or send it to a file")
    if sys.stderr is None:
        sys.stderr = _nowhere()
    for stream in (sys.stdout, sys.stderr):  # standard input is read as bytes
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="surrogateescape")


def check_output(verb: str, output: object) -> None:
    """Refuse at once, not after an hour's work, what has nowhere to put its result. output: the file for it, if any."""
    if not isinstance(sys.stdout, _Closed):
        return
    if verb in WRITES_A_FOLDER:
        sys.stdout = _nowhere()
    elif output is None:
        sys.stdout.write("")


def _fill_descriptors() -> None:
    """Put the null device where a standard stream is closed, or the next file to be opened would take its number, and
    whatever a library writes to "standard output" would land in that file."""
    for descriptor, mode in ((0, os.O_RDONLY), (1, os.O_WRONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, mode)  # the lowest free number, which is this one


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123 - it stays open as long as the program
