"""Where the class of a picture stands: in its folder's name, in its own, or in a table beside the pictures."""

import csv
import io
import re
import tarfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from clearformer.data.readers.pictures import PictureError

NUMBER = re.compile(r"[ _-]*\d+$")  # at the end of a name: Maine_Coon_12
MOST_TABLE = 1 << 26  # bytes

ClassFrom = Literal["folder", "name", "table"]


@dataclass(frozen=True, kw_only=True)
class Naming:
    """How a picture's class is found. within: only pictures below this folder count; empty: all."""

    by: ClassFrom = "folder"  # its folder's name; its own name without the number at the end; or a column of a table
    within: str = ""
    table: str = "labels.tsv"  # a table inside the folder or archive, tabs or commas, whose first column has names
    column: str = ""

    def __post_init__(self) -> None:
        if self.by == "table" and not self.column:
            raise ValueError('a table of classes needs data.column, its column; or set class_from = "folder"')

    def covers(self, name: str) -> bool:
        """Whether a picture counts. name: its path inside the folder or archive."""
        return not self.within or PurePosixPath(self.within) in PurePosixPath(name).parents


class Classes:
    """The classes of one folder or archive; its table is read once."""

    def __init__(self, source: Path, naming: Naming) -> None:
        self.source, self.naming = source, naming
        self.rows = _read_table(source, naming) if naming.by == "table" else {}

    def of(self, name: str) -> str:
        """The class of a picture, by its path inside the folder or archive."""
        path, place = PurePosixPath(name), f"{self.source}: {name}"
        if self.naming.by == "folder":
            if not path.parent.name:
                raise PictureError(f"{place} lies in no folder, so it has no class; put it into one")
            return path.parent.name
        if self.naming.by == "name":
            return NUMBER.sub("", path.stem) or path.stem
        label = self.rows.get(path.stem) or self.rows.get(path.name)
        if not label:
            raise PictureError(f"{place} has no row in {self.naming.table}; add one, or remove the picture")
        return label


def _read_table(source: Path, naming: Naming) -> Mapping[str, str]:
    content, place = _table_bytes(source, naming.table), f"{source}: {naming.table}"
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise PictureError(f"{place} is not UTF-8; save it as UTF-8") from None
    first = text.partition("\n")[0]
    rows = csv.DictReader(io.StringIO(text), delimiter="\t" if "\t" in first else ",")
    names = rows.fieldnames or ()
    if naming.column not in names:
        raise PictureError(f"{place} has no column {naming.column!r}; it has {', '.join(names) or 'none'}")
    return {str(row[names[0]]): str(row[naming.column] or "") for row in rows}


def _table_bytes(source: Path, name: str) -> bytes:
    """The table's bytes, from a folder or an archive."""
    try:
        if source.is_dir():
            with (source / name).open("rb") as stream:
                content = stream.read(MOST_TABLE + 1)
        elif source.name.lower().endswith(".zip"):
            with zipfile.ZipFile(source) as packed, packed.open(name) as stream:
                content = stream.read(MOST_TABLE + 1)
        else:
            with tarfile.open(source) as tar:
                found = tar.extractfile(name)
                content = found.read(MOST_TABLE + 1) if found is not None else b""
    except (KeyError, FileNotFoundError):
        raise PictureError(f"{source} has no {name}, which should name the classes; check data.table") from None
    except (OSError, tarfile.TarError, zipfile.BadZipFile) as error:
        raise PictureError(f"{source}: {name} cannot be read ({error}): get it anew") from error
    if len(content) > MOST_TABLE:
        raise PictureError(f"{source}: {name} has more than {MOST_TABLE:,} bytes; it is no table of names")
    return content
