"""Files that somebody hands to the pages: read by the library's own readers, and kept for the questions that follow.

Nothing is written beside the temporary file that a reader opens, and that is gone when it has been read.
"""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Generic, TypeVar

from clearformer.serving.refusal import Refused

ROOM = 6  # files that are kept at a time

T = TypeVar("T")


@contextmanager
def as_file(content: bytes, name: str) -> Iterator[Path]:
    """Bytes as a file, for readers that want a path and name it in their refusals."""
    with TemporaryDirectory(prefix="clearformer-") as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        yield path


def fingerprint(content: bytes) -> str:
    """What a page calls a file by."""
    return hashlib.sha256(content).hexdigest()[:32]


def told(error: Exception, path: Path) -> str:
    """What a reader says of a file, without the folder that nobody knows."""
    return str(error).replace(f"{path.parent}/", "")


class Kept(Generic[T]):
    """The newest things that were read, by fingerprint."""

    def __init__(self, room: int = ROOM) -> None:
        self._room, self._kept, self._lock = room, OrderedDict[str, T](), threading.Lock()

    def put(self, name: str, thing: T) -> None:
        """Keep a thing; the oldest makes room."""
        with self._lock:
            self._kept[name] = thing
            self._kept.move_to_end(name)
            while len(self._kept) > self._room:
                self._kept.popitem(last=False)

    def get(self, name: str) -> T:
        """A thing by its name; one that had to make room is asked for again."""
        with self._lock:
            if name not in self._kept:
                raise Refused("forgotten", "this file is not kept here any more; choose it again")
            self._kept.move_to_end(name)
            return self._kept[name]
