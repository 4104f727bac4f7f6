"""Files of a foreign folder: each is checked for kind and size before it is read.

A name such as config.json may be a pipe that never sends anything, a link to an endless device, or a file larger than
memory. Only regular files are read, only up to a size that such a file can need, and every error names the file.
"""

import json
import os
import stat
from pathlib import Path
from typing import Any, BinaryIO

MOST_TEXT = 64 << 20  # bytes of a configuration or a vocabulary; the largest that are published have half of it
_DIGITS = 4300  # of a whole number, which is where Python stops


def check_folder(folder: Path) -> None:
    """Refuse a folder that holds anything but files and folders: opening a pipe could wait forever."""
    for entry in sorted(folder.iterdir()):
        if not entry.is_dir() and entry.exists():
            size_of(entry)


def size_of(path: Path) -> int:
    """The bytes of a regular file, or of what a link leads to."""
    try:
        found = path.stat()
    except FileNotFoundError:
        raise ValueError(f"{path} does not exist") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read ({error.strerror})") from None
    if not stat.S_ISREG(found.st_mode):
        raise ValueError(f"{path} is {_kind(found.st_mode)}, not a file; refused")
    return found.st_size


def open_binary(path: Path) -> BinaryIO:
    """A regular file, opened for reading. A file that became a pipe in the meantime does not block."""
    size_of(path)
    try:
        return os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)), "rb")
    except OSError as error:
        raise ValueError(f"{path} cannot be read ({error.strerror})") from None


def read_bytes(path: Path, most: int = MOST_TEXT) -> bytes:
    """A whole file of at most so many bytes. The reported size is not trusted: files of the kernel report 0."""
    size = size_of(path)
    if size <= most:
        with open_binary(path) as file:
            data = file.read(most + 1)
        if len(data) <= most:
            return data
        size = len(data)
    raise ValueError(f"{path} has {size:,} bytes, more than the {most:,} that such a file can need; refused")


def read_text(path: Path) -> str:
    """A vocabulary, or another file of lines."""
    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 at byte {error.start}; download it again") from None


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object."""
    value = parse_json(path, read_bytes(path))
    if not isinstance(value, dict):
        raise ValueError(f"{path} must hold a JSON object, not {type(value).__name__}")
    return value


def parse_json(path: Path, data: bytes) -> Any:
    """What a JSON file holds."""
    try:
        return json.loads(data)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"{path} is not valid JSON: {first_line(error)}") from None
    except ValueError:  # the only other one: Python refuses numbers with too many digits
        raise ValueError(f"{path} has a number of more than {_DIGITS:,} digits; refused") from None


def first_line(error: BaseException) -> str:
    """What another library says, short enough for a sentence."""
    return str(error).splitlines()[0][:200] if str(error) else type(error).__name__


def _kind(mode: int) -> str:
    kinds = {
        stat.S_ISDIR: "a folder",
        stat.S_ISFIFO: "a pipe",
        stat.S_ISCHR: "a device",
        stat.S_ISBLK: "a device",
        stat.S_ISSOCK: "a socket",
    }
    return next((word for test, word in kinds.items() if test(mode)), "of an unknown kind")
