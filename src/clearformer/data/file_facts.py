"""What a text file is, so that work done on it can be told from work done on another: size, SHA-256, lines."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

CHUNK = 1 << 20
GZIP_MAGIC = b"\x1f\x8b"  # the content decides, not the name, as it does for whoever reads the lines


@dataclass(frozen=True, kw_only=True)
class FileFacts:
    """A file as it was when it was last read from end to end."""

    name: str
    bytes: int
    modified_ns: int
    sha256: str
    lines: int  # of the text inside, if the file is gzipped

    def still_true_of(self, path: Path) -> bool:
        """Whether the file looks untouched: same size, same time of change. Good enough not to read it again."""
        stat = path.stat()
        return (self.bytes, self.modified_ns) == (stat.st_size, stat.st_mtime_ns)


def scan(path: Path) -> FileFacts:
    """Read a file from end to end, for its checksum and the number of its lines."""
    stat = path.stat()
    with path.open("rb") as file:
        packed = file.peek(2)[:2] == GZIP_MAGIC
        sha256 = sha256_of(file)
    with _unpacked(path, packed=packed) as text:
        lines = _count_lines(text)
    return FileFacts(name=path.name, bytes=stat.st_size, modified_ns=stat.st_mtime_ns, sha256=sha256, lines=lines)


def refuse_blank(paths: Iterable[Path]) -> None:
    """Name the first file in which there is nothing but white space. Folders are passed over."""
    for path in paths:
        if path.is_file() and _is_blank(path):
            raise ValueError(f"{path} is empty; give a file that has the data")


def _is_blank(path: Path) -> bool:
    with path.open("rb") as file:
        packed = file.peek(2)[:2] == GZIP_MAGIC
    with _unpacked(path, packed=packed) as text:
        while chunk := text.read(CHUNK):
            if chunk.strip():
                return False
    return True


@contextmanager
def _unpacked(path: Path, *, packed: bool) -> Iterator[IO[bytes] | gzip.GzipFile]:
    try:
        with gzip.open(path) if packed else path.open("rb") as text:
            yield text
    except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
        raise ValueError(f"{path} is not a whole gzip file ({problem}): fetch or pack it again.") from problem


def sha256_of(file: IO[bytes] | gzip.GzipFile) -> str:
    """The checksum of everything that is left in an open file."""
    digest = hashlib.sha256()
    while chunk := file.read(CHUNK):
        digest.update(chunk)
    return digest.hexdigest()


def _count_lines(text: IO[bytes] | gzip.GzipFile) -> int:
    """Line feeds, and one more for a last line that has none."""
    lines, last = 0, b"\n"
    while chunk := text.read(CHUNK):
        lines += chunk.count(b"\n")
        last = chunk[-1:]
    return lines + (last != b"\n")
