"""Many pictures with their classes: a folder with one subfolder per class, or an archive that holds such folders."""

import io
import logging
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal

from clearformer.data.readers.picture_names import Classes, Naming
from clearformer.data.readers.pictures import ENDINGS, PictureError, Pixels, decode_picture, read_picture

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz")
MOST_PACKED = 1 << 28  # bytes of one picture file in an archive: a header may promise anything
NAMED = 5  # pictures that are named where several are left out
log = logging.getLogger(__name__)

Unreadable = Literal["stop", "leave-out"]


@dataclass(frozen=True, kw_only=True)
class LabelledPicture:
    """A picture with its class. path: where it comes from, for messages."""

    pixels: Pixels
    label: str
    path: str


@dataclass
class Tolerance:
    """What happens to pictures that cannot be read: the first one stops everything, or all are left out and named."""

    unreadable: Unreadable = "stop"
    refused: list[PictureError] = field(default_factory=list)

    def refuse(self, error: PictureError) -> None:
        """Stop, or remember."""
        if self.unreadable == "stop":
            raise error
        self.refused.append(error)

    def read(self, path: Path, *, channels: int | None = None) -> Pixels | None:
        """A picture, or None if it is left out."""
        try:
            return read_picture(path, channels=channels)
        except PictureError as error:
            self.refuse(error)
            return None

    def said(self) -> str:
        """How many were left out, and which; empty where none was."""
        if not self.refused:
            return ""
        count = len(self.refused)
        named = "; ".join(str(error) for error in self.refused[:NAMED])
        more = f"; and {count - NAMED:,} more" if count > NAMED else ""
        return f"{count:,} {'picture was' if count == 1 else 'pictures were'} left out: {named}{more}"

    def report(self) -> None:
        """Say it in the log."""
        if said := self.said():
            log.warning("%s", said)


def class_folders(folder: Path) -> list[Path]:
    """The subfolders that hold pictures, one per class, by name."""
    found = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    return [path for path in found if any(picture_files(path))]


def picture_files(folder: Path) -> Iterator[Path]:
    """The pictures of a class, in order."""
    return (path for path in sorted(folder.iterdir()) if _is_picture(path.name) and path.is_file())


def pictures_below(folder: Path) -> Iterator[Path]:
    """The pictures of a folder and of all folders in it, in order; hidden ones are passed over."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.name.startswith(".") and not path.is_symlink():  # a link may lead in a circle
            yield from pictures_below(path)
        elif _is_picture(path.name) and path.is_file():
            yield path


def is_archive(path: Path) -> bool:
    """Whether a file's name says that it is an archive."""
    return path.name.lower().endswith(ARCHIVES) and not path.is_dir()


def read_classes(
    source: Path,
    *,
    channels: int | None = None,
    tolerance: Tolerance | None = None,
    naming: Naming | None = None,
) -> Iterator[LabelledPicture]:
    """Every picture of a folder, or of an archive of one, with its class. naming: by folder, if not given."""
    tolerance, naming = tolerance or Tolerance(), naming or Naming()
    if is_archive(source):
        return _read_archive(source, channels, tolerance, naming)
    if not source.is_dir():
        raise PictureError(f"{source} is no folder of classes and no archive ({', '.join(ARCHIVES)}): check the name")
    return _read_folder(source, channels, tolerance, naming)


def _read_folder(folder: Path, channels: int | None, tolerance: Tolerance, naming: Naming) -> Iterator[LabelledPicture]:
    classes, files = Classes(folder, naming), pictures_below(folder)
    if naming.by == "folder" and not naming.within:
        files = (path for part in class_folders(folder) for path in picture_files(part))
    for path in files:
        inside = path.relative_to(folder).as_posix()
        if naming.covers(inside) and (pixels := tolerance.read(path, channels=channels)) is not None:
            yield LabelledPicture(pixels=pixels, label=classes.of(inside), path=str(path))


def _read_archive(
    archive: Path, channels: int | None, tolerance: Tolerance, naming: Naming
) -> Iterator[LabelledPicture]:
    """In the order of the archive."""
    classes: Classes | None = None
    for name, content in archived_pictures(archive, tolerance):
        if not naming.covers(name):
            continue
        classes = classes or Classes(archive, naming)  # not before the archive is known to be one
        label, place = classes.of(name), f"{archive}: {name}"
        try:
            pixels = decode_picture(io.BytesIO(content), place, channels=channels)
        except PictureError as error:
            tolerance.refuse(error)
        else:
            yield LabelledPicture(pixels=pixels, label=label, path=place)


def archived_pictures(archive: Path, tolerance: Tolerance | None = None) -> Iterator[tuple[str, bytes]]:
    """The picture files of an archive as names and bytes, in its order; nothing is written to disk."""
    tolerance = tolerance or Tolerance()
    members = _zip_members if archive.name.lower().endswith(".zip") else _tar_members
    try:
        for name, size, read in members(archive):
            if size > MOST_PACKED:
                tolerance.refuse(PictureError(f"{archive}: {name} has {size:,} bytes, more than {MOST_PACKED:,}"))
                continue
            yield name, read()
    except FileNotFoundError:
        raise PictureError(f"{archive} does not exist: check the name") from None
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError) as error:
        if isinstance(error, PictureError):
            raise
        raise PictureError(f"{archive} cannot be unpacked ({error}): get it anew") from error


def _zip_members(archive: Path) -> "Iterator[tuple[str, int, _Read]]":
    with zipfile.ZipFile(archive) as packed:
        for info in packed.infolist():
            if not info.is_dir() and _is_picture(info.filename):
                yield info.filename, info.file_size, _Read(packed, info)


def _tar_members(archive: Path) -> "Iterator[tuple[str, int, _Read]]":
    with tarfile.open(archive) as packed:
        for member in packed:
            if member.isreg() and _is_picture(member.name):
                yield member.name, member.size, _Read(packed, member)
        stream = packed.fileobj
        assert stream is not None
        stream.seek(packed.offset)
        if not stream.read(tarfile.BLOCKSIZE):  # cut between two files, which the library does not mind
            raise tarfile.ReadError("its end is missing")


@dataclass(frozen=True)
class _Read:
    """The bytes of one member, when they are asked for."""

    packed: zipfile.ZipFile | tarfile.TarFile
    member: zipfile.ZipInfo | tarfile.TarInfo

    def __call__(self) -> bytes:
        if isinstance(self.packed, zipfile.ZipFile):
            assert isinstance(self.member, zipfile.ZipInfo)
            with self.packed.open(self.member) as stream:
                return stream.read(self.member.file_size)
        assert isinstance(self.member, tarfile.TarInfo)
        opened = self.packed.extractfile(self.member)
        assert opened is not None
        with opened:
            return opened.read()


def _is_picture(name: str) -> bool:
    path = PurePosixPath(name)
    return path.suffix.lower() in ENDINGS and not path.name.startswith(".")
