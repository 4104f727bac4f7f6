"""The zip file that a DOCX document is: read within limits, written again with other files in the same places."""

import io
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from clearformer.documents.segments import DocumentError, read_bytes

MOST_FILES = 10_000
MOST_UNPACKED = 512 << 20  # bytes of all files together
MOST_OF_ONE = 128 << 20
_NEEDED = ("[Content_Types].xml", "_rels/.rels")


@dataclass(frozen=True)
class OfficePackage:
    """A package in memory, as bytes."""

    path: Path
    data: bytes

    def names(self) -> list[str]:
        """Its files, in order."""
        with zipfile.ZipFile(io.BytesIO(self.data)) as packed:
            return packed.namelist()

    def read(self, name: str) -> bytes:
        """One file; what unpacks to more than its entry says is refused."""
        try:
            with zipfile.ZipFile(io.BytesIO(self.data)) as packed, packed.open(name) as file:
                found = file.read(MOST_OF_ONE + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            raise DocumentError(f"{self.path}/{name} is damaged ({error}); get the file anew") from None
        if len(found) > MOST_OF_ONE:
            raise DocumentError(f"{self.path}/{name} unpacks to more than {MOST_OF_ONE:,} bytes; refused")
        return found

    def with_files(self, changed: Mapping[str, bytes]) -> bytes:
        """The package with other contents in some files; names, order, dates and the way of packing stay."""
        made = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(self.data)) as packed, zipfile.ZipFile(made, "w") as written:
            written.comment = packed.comment
            for entry in packed.infolist():
                data = changed[entry.filename] if entry.filename in changed else self.read(entry.filename)
                written.writestr(entry, data, compress_type=entry.compress_type)
        return made.getvalue()


def open_package(path: Path) -> OfficePackage:
    """Look at a package before anything in it is unpacked."""
    package = OfficePackage(path, read_bytes(path))
    try:
        with zipfile.ZipFile(io.BytesIO(package.data)) as packed:
            entries = packed.infolist()
    except (zipfile.BadZipFile, EOFError, NotImplementedError, ValueError) as error:
        raise DocumentError(f"{path} is no .docx file ({error}); save it anew as .docx") from None
    _check(path, entries)
    return package


def _check(path: Path, entries: list[zipfile.ZipInfo]) -> None:
    names = [entry.filename for entry in entries]
    if len(entries) > MOST_FILES or sum(entry.file_size for entry in entries) > MOST_UNPACKED:
        raise DocumentError(f"{path} unpacks to more than {MOST_FILES:,} files or {MOST_UNPACKED:,} bytes; refused")
    if len(set(names)) != len(names):
        raise DocumentError(f"{path} holds two files of one name; save it anew in a word processor")
    if any(entry.flag_bits & 1 for entry in entries):
        raise DocumentError(f"{path} is protected by a password; save it without one")
    missing = [name for name in _NEEDED if name not in names]
    if missing:
        raise DocumentError(
            f"{path} has no {' and no '.join(missing)}, so it is no Word document; save it as .docx anew"
        )
