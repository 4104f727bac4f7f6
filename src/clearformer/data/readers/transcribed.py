"""Recordings beside their transcripts: NAME.wav with NAME.txt in a folder, or a table of file names and texts.

The names of a table lead into a folder, or into a tar archive, which is read once. What cannot be read is refused by
file, or by the table's line.
"""

import tarfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import NamedTuple, Protocol

from clearformer.data.readers.sounds import ENDINGS, Recorded, SoundError, read_recorded, sound_files
from clearformer.data.readers.tables import SOUND_NAMES, SPOKEN_NAMES, LabelledError, TableRow, read_rows
from clearformer.foundation import storage

FILE_NAMES = (*SOUND_NAMES, "name", "id")
TEXT_NAMES = (*SPOKEN_NAMES, "text", "sentence", "words", "label", "文本", "内容")
ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
MOST_UNPACKED = 2 << 30  # bytes of an archive's recordings, which are held in memory
LOOKED_AT = 50  # rows, to find the column of file names
MOST_TEXT = 1 << 20  # bytes of one transcript


class Shelf(Protocol):
    """Where recordings lie."""

    def find(self, name: str) -> Path | None:
        """The recording of that name, with or without its ending; None where there is none."""

    def read(self, path: Path) -> Recorded:
        """A recording that was found."""

    def digest(self, path: Path) -> str:
        """What two equal recordings have in common."""


class FolderShelf:
    """Files below a folder, by their path from there or, where that is enough, their name alone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._by_end: dict[str, str | None] | None = None

    def find(self, name: str) -> Path | None:
        path = self.folder / name
        for one in (path, *(path.with_name(path.name + ending) for ending in ENDINGS if path.name)):
            if one.is_file():
                return one
        if self._by_end is None:
            self._by_end = _by_end([str(one) for one in recordings_below(self.folder)])
        found = _below(self._by_end, name)
        return None if found is None else Path(found)

    def read(self, path: Path) -> Recorded:
        return read_recorded(path)

    def digest(self, path: Path) -> str:
        return storage.sha256(path)


class ArchiveShelf:
    """Members of a tar archive, by their whole name or, where that is enough, its last part."""

    def __init__(self, archive: Path) -> None:
        self.archive = archive
        self._content = _unpacked(archive)
        self._by_end = _by_end(list(self._content))

    def find(self, name: str) -> Path | None:
        whole = next((one for one in _spelt(name) if one in self._content), None) or _below(self._by_end, name)
        return None if whole is None else self.archive / whole

    def read(self, path: Path) -> Recorded:
        return read_recorded(path, self._bytes(path))

    def digest(self, path: Path) -> str:
        import hashlib

        return hashlib.sha256(self._bytes(path)).hexdigest()

    def _bytes(self, path: Path) -> bytes:
        return self._content[str(PurePosixPath(path.relative_to(self.archive)))]


def _by_end(names: Sequence[str]) -> dict[str, str | None]:
    """Whole names by their last parts; None where two have the same."""
    found: dict[str, str | None] = {}
    for name in names:
        end = PurePosixPath(name).name
        found[end] = None if end in found else name
    return found


def _below(by_end: Mapping[str, str | None], name: str) -> str | None:
    """The whole name that ends with this one, where there is exactly one with its last part."""
    for one in _spelt(name):
        whole = by_end.get(PurePosixPath(one).name)
        if whole is not None and f"/{whole}".endswith(f"/{one}"):
            return whole
    return None


def _spelt(name: str) -> tuple[str, ...]:
    """A name as it is, and with each ending of a recording."""
    return (name, *(name + ending for ending in ENDINGS))


@lru_cache(maxsize=1)  # the parts of a corpus are read one after the other
def _unpacked(archive: Path) -> Mapping[str, bytes]:
    found: dict[str, bytes] = {}
    room = MOST_UNPACKED
    try:
        with tarfile.open(archive) as tar:
            for member in tar:
                if not member.isreg() or not member.name.lower().endswith(ENDINGS):
                    continue
                room -= member.size
                if room < 0:
                    raise SoundError(f"{archive} unpacks to more than {MOST_UNPACKED:,} bytes: unpack it into a folder")
                opened = tar.extractfile(member)
                found[str(PurePosixPath(member.name))] = b"" if opened is None else opened.read()
    except (tarfile.TarError, EOFError, zlib.error, OSError) as problem:
        raise SoundError(f"{archive} cannot be read as an archive of recordings ({problem}): get it anew") from problem
    return found


@dataclass(frozen=True, kw_only=True)
class Transcribed:
    """A recording with its transcript. place: file and line of the text; row: the other columns of a table."""

    path: Path
    text: str
    place: str
    shelf: Shelf
    row: Mapping[str, str] = field(default_factory=dict)

    def read(self) -> Recorded:
        return self.shelf.read(self.path)

    def digest(self) -> str:
        return self.shelf.digest(self.path)


class SoundColumns(NamedTuple):
    """Which column of a table has the names of recordings, and which their texts."""

    file: str
    text: str


def is_archive(path: Path) -> bool:
    """Whether a name is that of an archive."""
    return path.name.lower().endswith(ARCHIVES)


def shelf_of(recordings: Path) -> Shelf:
    """Where the names of a table lead."""
    return ArchiveShelf(recordings) if is_archive(recordings) else FolderShelf(recordings)


def read_transcribed(
    path: Path, *, recordings: Path | None = None, file: str = "", text: str = ""
) -> Iterator[Transcribed]:
    """Every recording with its text. recordings: the folder or archive of a table's names, if not where it lies."""
    if path.is_dir():
        yield from read_beside(path)
        return
    for entry in read_entries(path, recordings=recordings, file=file, text=text):
        if entry.found is None:
            raise LabelledError(f"{entry.place} names {entry.named}, which is not in {recordings or path.parent}")
        yield entry.found


class Entry(NamedTuple):
    """A row of a table: the recording that it names, if there is one."""

    place: str
    named: str
    found: Transcribed | None


def read_entries(path: Path, *, recordings: Path | None = None, file: str = "", text: str = "") -> Iterator[Entry]:
    """Every row of a table."""
    columns = find_sound_columns(path, file=file, text=text)
    if columns is None:
        raise LabelledError(f"{path} has no columns of recordings and their texts; name them: data.file, data.text")
    shelf = shelf_of(recordings or path.parent)
    for line, fields in read_rows(path):
        place, named = f"{path}, line {line}", fields.get(columns.file, "")
        found = shelf.find(named) if named else None
        said = " ".join(fields.get(columns.text, "").split())
        one = None if found is None else Transcribed(path=found, text=said, place=place, shelf=shelf, row=fields)
        yield Entry(place, named or "no recording", one)


def read_beside(folder: Path) -> Iterator[Transcribed]:
    """Recordings that have a transcript of the same name beside them, at any depth."""
    shelf = FolderShelf(folder)
    for path in recordings_below(folder):
        text = path.with_suffix(".txt")
        if text.is_file():
            yield Transcribed(path=path, text=read_transcript(text), place=str(text), shelf=shelf)


def read_transcript(path: Path) -> str:
    """A transcript as one line."""
    if path.stat().st_size > MOST_TEXT:
        raise LabelledError(f"{path} has more than {MOST_TEXT:,} bytes; a transcript belongs to one recording")
    try:
        return " ".join(path.read_text(encoding="utf-8-sig").split())
    except UnicodeDecodeError as error:
        raise LabelledError(f"{path} is not UTF-8 (byte {error.start}): save it as UTF-8") from None


def recordings_below(folder: Path) -> Iterator[Path]:
    """The recordings of a folder and its subfolders, in order."""
    yield from sound_files(folder)
    for part in sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")):
        yield from recordings_below(part)


def find_sound_columns(path: Path, *, file: str = "", text: str = "") -> SoundColumns | None:
    """The columns of file names and texts, as said, by name, or by what the cells look like."""
    rows = list(islice(read_rows(path), LOOKED_AT))
    names = list(rows[0].fields) if rows else []
    for told in filter(None, (file, text)):
        if told not in names:
            raise LabelledError(f"{path} has no column {told!r}; it has {', '.join(names) or 'no rows'}")
    by_name = {name.lower(): name for name in names}
    heard = file or next((name for name in names if _names_sounds(rows, name)), None)
    heard = heard or _beside_table(path, rows, [by_name[word] for word in FILE_NAMES if word in by_name])
    known = [by_name[word] for word in TEXT_NAMES if word in by_name and by_name[word] != heard]
    others = [name for name in names if name != heard]
    said = text or (known[0] if known else others[0] if len(others) == 1 else None)
    return None if heard is None or said is None else SoundColumns(heard, said)


def _names_sounds(rows: Sequence[TableRow], name: str) -> bool:
    return all(row.fields.get(name, "").lower().endswith(ENDINGS) for row in rows)


def _beside_table(path: Path, rows: Sequence[TableRow], names: Sequence[str]) -> str | None:
    """The first of these columns whose names, without an ending, are recordings beside the table."""
    shelf = FolderShelf(path.parent)
    return next((name for name in names if any(shelf.find(row.fields.get(name, "") or "?") for row in rows)), None)


def choose_rows(said: str, examples: Sequence[Transcribed]) -> list[bool]:
    """Which examples have the value that `column=value` or `column=value|value` says."""
    column, mark, values = said.partition("=")
    if not mark or not column or not values:
        raise ValueError(f"rows are chosen by column=value or column=value|value, not by {said!r}")
    wanted = set(values.split("|"))
    if examples and column not in examples[0].row:
        known = ", ".join(examples[0].row) or "no columns"
        raise ValueError(f"{examples[0].place} has no column {column!r} to choose rows by; it has {known}")
    return [one.row.get(column) in wanted for one in examples]
