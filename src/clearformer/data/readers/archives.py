"""Files below a folder, or inside a tar or zip archive, which is read as if it were a folder.

`cells.tar.gz/cells/train.txt` is a name like any other: some data sets come as one file, and nobody has to unpack it.
Nothing is written to disk, and no link is followed.
"""

import tarfile
import zipfile
import zlib
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Protocol

ENDINGS = (".tar", ".tar.gz", ".tgz", ".zip")
ABOVE = 2  # folders above a file's own, in which what it names may lie, as with VOC's lists
MOST_BYTES = 1 << 30  # of an archive's files, unpacked
MOST_FILES = 1 << 20


class ArchiveError(ValueError):
    """An archive, or a file in it, cannot be read; the message names it and says what to do."""


class FileStore(Protocol):
    """Files by their names, which have slashes between their parts."""

    def names(self) -> tuple[str, ...]:
        """Every file, in order."""

    def has(self, name: str) -> bool:
        """Whether there is such a file."""

    def read(self, name: str) -> bytes:
        """The bytes of one."""

    def place(self, name: str) -> str:
        """What to call it in a message."""


class Folder:
    """The files below a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(one.relative_to(self.path).as_posix() for one in self.path.rglob("*") if one.is_file()))

    def has(self, name: str) -> bool:
        return (self.path / name).is_file()

    def read(self, name: str) -> bytes:
        try:
            return (self.path / name).read_bytes()
        except (OSError, ValueError) as error:  # ValueError: no name of a file has a zero byte in it
            reason = error.strerror if isinstance(error, OSError) else error
            raise ArchiveError(f"{_shown(self.path / name)} cannot be read ({reason}): check the name") from None

    def place(self, name: str) -> str:
        return str(self.path / name)


def _shown(path: Path) -> str:
    """A name in one line, whatever it is made of."""
    return text if (text := str(path)).isprintable() else repr(text)


class PackedFiles:
    """The files of an archive, held in memory: a packed tar can only be read from its beginning."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.files = _unzip(path) if path.name.lower().endswith(".zip") else _untar(path)
        except (OSError, EOFError, tarfile.TarError, zipfile.BadZipFile, zlib.error, NotImplementedError) as error:
            raise ArchiveError(f"{path} is no whole archive ({error}): get it anew") from None

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self.files))

    def has(self, name: str) -> bool:
        return name in self.files

    def read(self, name: str) -> bytes:
        if name not in self.files:
            raise ArchiveError(f"{self.path} has no file {name}: check the name")
        return self.files[name]

    def place(self, name: str) -> str:
        return f"{self.path}/{name}"


def find_store(path: Path) -> tuple[FileStore, str]:
    """Where a path leads: the folder or archive, and the name in it; the name is empty for the whole of it."""
    for outer in (path, *path.parents):
        if outer.name.lower().endswith(ENDINGS) and outer.is_file():
            inner = path.relative_to(outer).as_posix()
            return opened(outer, outer.stat().st_mtime_ns), "" if inner == "." else inner
    if path.is_dir():
        return Folder(path), ""
    root = path.parents[min(ABOVE, len(path.parents) - 1)]
    return Folder(root), path.relative_to(root).as_posix()


def there(path: Path) -> bool:
    """Whether a file or folder exists, also inside an archive."""
    if path.exists():
        return True
    store, name = find_store(path)
    return isinstance(store, PackedFiles) and any(one == name or one.startswith(f"{name}/") for one in store.files)


@lru_cache(maxsize=2)
def opened(path: Path, changed: int) -> PackedFiles:
    """An archive, read once however often its files are asked for. changed: when, so that another file is another."""
    return PackedFiles(path)


def _untar(path: Path) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    room = MOST_BYTES
    with tarfile.open(path) as tar:
        for member in tar:
            if not member.isreg():
                continue
            room -= member.size
            _check_room(path, room, len(files))
            stream = tar.extractfile(member)
            assert stream is not None  # a plain file has one
            files[_name(member.name)] = stream.read()
    return files


def _unzip(path: Path) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    room = MOST_BYTES
    with zipfile.ZipFile(path) as packed:
        for member in packed.infolist():
            if member.is_dir():
                continue
            room -= member.file_size
            _check_room(path, room, len(files))
            try:
                files[_name(member.filename)] = packed.read(member)
            except RuntimeError as error:  # what the library says of a password
                raise ArchiveError(f"{path} cannot be unpacked ({error}): unpack it, and give the folder") from None
    return files


def _check_room(path: Path, room: int, files: int) -> None:
    if room < 0 or files >= MOST_FILES:
        raise ArchiveError(f"{path} unpacks to more than {MOST_BYTES:,} bytes or {MOST_FILES:,} files: unpack it")


def _name(name: str) -> str:
    return str(PurePosixPath(name))
