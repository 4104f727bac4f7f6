"""A foreign binary file, read in order; every count is checked before it is used.

A damaged or hostile file says that it holds four billion tensors, or one of four billion bytes. What it says is
compared with what is left of the file, so a false count costs neither time nor memory.
"""

import struct
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from clearformer.interop.foreign_files import open_binary, size_of


class BinaryReader:
    """Little-endian numbers and texts, one after another."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = size_of(path)
        self._file: BinaryIO = open_binary(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    @property
    def place(self) -> int:
        return self._file.tell()

    @property
    def left(self) -> int:
        """Bytes between here and the end."""
        return self.size - self.place

    def number(self, code: str, what: str) -> int:
        """An integer in the notation of `struct`: B, H, I, Q."""
        value: int = struct.unpack(f"<{code}", self.raw(struct.calcsize(f"<{code}"), what))[0]
        return value

    def count(self, code: str, what: str, *, each: int) -> int:
        """How many things follow, each of which takes at least `each` bytes."""
        value = self.number(code, f"the number of {what}")
        if value * each > self.left:
            raise ValueError(
                f"{self.path} says that it holds {value:,} {what}, more than it has room for; download it again"
            )
        return value

    def raw(self, length: int, what: str) -> bytes:
        """The next `length` bytes, unchanged."""
        if length > self.left:
            raise ValueError(f"{self.path} ends in the middle of {what}; download it again")
        return self._file.read(length)

    def skip(self, length: int, what: str) -> int:
        """Skip `length` bytes; returns where they began."""
        begins = self.place
        if length > self.left:
            raise ValueError(f"{self.path} ends in the middle of {what}; download it again")
        self._file.seek(length, 1)
        return begins
