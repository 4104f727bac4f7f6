"""Texts with a summary each, from tables: which columns hold them, as said, by name, or by how long they are."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from clearformer.data.readers.tables import LABEL_NAMES, LONG_NAMES, SHORT_NAMES, LabelledError, TableRow, read_rows

LOOKED_AT = 500  # rows, to find the columns
SHORTER = 0.5  # of the text's length: a column that is longer is no summary of it
MUCH_SHORTER = 0.25  # the same where neither column's name says what it is
DIFFERENT = 0.5  # of the rows: a column with fewer different values holds classes


class SummaryPair(NamedTuple):
    """A text, its summary, and what other people wrote instead of it. place: file and line."""

    text: str
    summary: str
    others: tuple[str, ...] = ()
    place: str = ""


@dataclass(frozen=True, kw_only=True)
class SummaryColumns:
    """Which column is what. others: a list of further summaries, where a table has some; origin: where a row came from,
    if the table says so."""

    text: str
    summary: str
    others: str | None = None
    origin: str | None = None

    def shown(self) -> str:
        """For people."""
        return f"text in column {self.text}, summary in column {self.summary}"


def find_summary_columns(
    path: Path, *, text: str | None = None, summary: str | None = None, others: str | None = None
) -> SummaryColumns | None:
    """The columns of text and summary; None where no column is much shorter than another and says something else in
    most rows."""
    rows = list(islice(read_rows(path), LOOKED_AT))
    names = list(rows[0].fields) if rows else []
    for told in filter(None, (text, summary)):
        if told not in names:
            raise LabelledError(f"{path} has no column {told!r}; it has {', '.join(names) or 'no rows'}")
    size = {name: _length(rows, name) for name in names}
    long = text or _named(names, LONG_NAMES, {summary}) or _longest(size, {summary})
    if long is None:
        return None
    short = summary or _short(rows, [name for name in names if name != long], size, size[long])
    if short is None:
        return None
    origin = "origin" if "origin" in names else None
    return SummaryColumns(text=long, summary=short, others=others if others in names else None, origin=origin)


def _short(rows: Sequence[TableRow], names: Sequence[str], size: dict[str, float], longest: float) -> str | None:
    """The column with a summary's name that is shorter than the text; or the only one that is much shorter and says
    something else in most rows. A table with a column of classes is for a classifier."""
    if any(name.lower() in LABEL_NAMES and len(_values(rows, name)) < DIFFERENT * len(rows) for name in names):
        return None
    named = _named([name for name in names if 0 < size[name] <= SHORTER * longest], SHORT_NAMES, set())
    if named is not None:
        return named
    fitting = [
        name for name in names
        if 0 < size[name] <= MUCH_SHORTER * longest and name.lower() not in ("id", "index", "idx", "origin")
        and len(_values(rows, name)) >= DIFFERENT * len(rows) and _says_something(rows, name)
    ]  # fmt: skip
    return fitting[0] if len(fitting) == 1 else None


def _says_something(rows: Sequence[TableRow], name: str) -> bool:
    """Whether most cells are more than a word or a number: several words, or characters of a script without spaces."""
    cells = [row.fields.get(name, "").strip() for row in rows]
    told = sum(len(cell.split()) > 1 or (len(cell) > 3 and not cell.isascii()) for cell in cells)
    return 2 * told > len(cells)


def _length(rows: Sequence[TableRow], name: str) -> float:
    return sum(len(row.fields.get(name, "")) for row in rows) / len(rows)


def _values(rows: Sequence[TableRow], name: str) -> set[str]:
    return {row.fields.get(name, "").strip() for row in rows}


def _named(names: Sequence[str], known: Sequence[str], taken: set[str | None]) -> str | None:
    by_name = {name.lower(): name for name in names if name not in taken}
    return next((by_name[word] for word in known if word in by_name), None)


def _longest(size: dict[str, float], taken: set[str | None]) -> str | None:
    return max((name for name in size if name not in taken), key=size.__getitem__, default=None)


def read_summaries(path: Path, columns: SummaryColumns) -> Iterator[SummaryPair]:
    """Every row, also one whose text or summary is blank: who reads decides what to do with it."""
    for line, fields in read_rows(path):
        for name in (columns.text, columns.summary):
            if name not in fields:
                raise LabelledError(f"{path}, line {line} has no column {name!r}; it has {', '.join(fields)}")
        place = (fields.get(columns.origin, "") if columns.origin else "") or f"{path}:{line}"
        others = _others(path, line, fields.get(columns.others, "") if columns.others else "")
        yield SummaryPair(fields[columns.text].strip(), " ".join(fields[columns.summary].split()), others, place)


def _others(path: Path, line: int, cell: str) -> tuple[str, ...]:
    """A JSON list of texts, or one text."""
    if not cell.startswith("["):
        return (cell,) if cell.strip() else ()
    try:
        found = json.loads(cell)
    except (ValueError, RecursionError):
        raise LabelledError(f"{path}, line {line} has no list of texts beside its summary: mend it") from None
    return tuple(one for one in found if isinstance(one, str) and one.strip())
