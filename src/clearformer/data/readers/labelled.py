"""Texts with labels from tables: which columns hold them, as said, by name, or by what stands in them.

A row has one label, several (in one cell, or in a column of 0 and 1 for each), or a number. What cannot be read is
refused by file and line; nothing is dropped.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from clearformer.data.readers.label_cells import LabelKind, join_labels, kind_of, number_in, split_labels
from clearformer.data.readers.tables import LABEL_NAMES, SECOND_NAMES, TEXT_NAMES, LabelledError, TableRow, read_rows

LOOKED_AT = 2000  # rows, to find the columns
MOST_CLASSES = 200
SWITCH = frozenset({"0", "1"})  # what a column of 0 and 1 holds
_NUMBER = re.compile(r"[ _-]?(\d|[一二甲乙]|(?<=[_ -])[ab])$", re.IGNORECASE)  # at the end of a column's name
ALIKE = 0.3  # of the longer text's length: a column that is shorter is no second text


class LabelledText(NamedTuple):
    """A text with its class; `second` where the class belongs to a pair of texts.

    label: several are a JSON list in alphabetical order. place: file and line.
    """

    text: str
    second: str | None
    label: str
    line: int
    place: str = ""


@dataclass(frozen=True, kw_only=True)
class LabelColumns:
    """Which column is what. labels: columns of 0 and 1, one per label, in place of `label`. origin: where a row came
    from, if the table says so."""

    text: str
    label: str = ""
    second: str | None = None
    labels: tuple[str, ...] = ()
    origin: str | None = None
    kind: LabelKind = "one"

    def shown(self) -> str:
        """For people."""
        pair = f" and {self.second}" if self.second else ""
        if self.labels:
            return f"text in column {self.text}{pair}, labels in columns {', '.join(self.labels)}"
        what = {"one": "label", "several": "several labels", "number": "a number"}[self.kind]
        return f"text in column {self.text}{pair}, {what} in column {self.label}"


def find_columns(
    path: Path,
    *,
    text: str | None = None,
    label: str | None = None,
    second: str | None = None,
    labels: Sequence[str] = (),
    origin: str | None = None,
    kind: LabelKind | None = None,
) -> LabelColumns:
    """Which columns hold the text and its label: as said, by name, or by what stands in them.

    labels, origin: as in `LabelColumns`. kind: what a label is; without it, the cells say it.
    """
    rows = list(islice(read_rows(path), LOOKED_AT))
    if not rows:
        raise LabelledError(f"{path} has no rows: give a table with a text and a label in each")
    names = list(rows[0].fields)
    for told in (text, label, second, *labels):
        if told is not None and told not in names:
            raise LabelledError(f"{path} has no column {told!r}; it has {', '.join(names)}")
    if label is None and not labels:
        label, labels = _find_label(path, rows, names, {text, second, origin})
    said = {label, *labels, origin}
    free = [name for name in names if name not in said]
    found = text or _named(free, TEXT_NAMES, {second}) or _longest(path, rows, [one for one in free if one != second])
    pair = second or _named(free, SECOND_NAMES, {found})
    if pair is None and text is None:
        others = [name for name in free if name != found]
        pair = _alike(rows, found, others) if names[0] == "1" else _numbered(found, others)
        found, pair = (found, pair) if pair is None else tuple(sorted((found, pair), key=names.index))
    cells = [row.fields.get(label or "", "") for row in rows]
    return LabelColumns(
        text=found,
        label=label or "",
        second=pair,
        labels=tuple(labels),
        origin=origin if origin in names else None,
        kind="several" if labels else kind or kind_of(cells),
    )


def find_text(path: Path, text: str | None = None) -> str:
    """Which column of a table holds the text, where nothing else is asked of it: as said, by name, or the longest."""
    rows = list(islice(read_rows(path), LOOKED_AT))
    names = list(rows[0].fields) if rows else []
    if not names:
        raise LabelledError(f"{path} has no rows: give a table with a text in each")
    if text is not None and text not in names:
        raise LabelledError(f"{path} has no column {text!r}; it has {', '.join(names)}")
    return text or _named(names, TEXT_NAMES, set()) or _longest(path, rows, names)


def _named(names: Sequence[str], known: Sequence[str], taken: set[str | None]) -> str | None:
    by_name = {name.lower(): name for name in names if name not in taken}
    return next((by_name[word] for word in known if word in by_name), None)


def _find_label(
    path: Path, rows: Sequence[TableRow], names: Sequence[str], taken: set[str | None]
) -> tuple[str | None, tuple[str, ...]]:
    """The column with a label's name; or the one with few different short values, each of them several times; or
    several columns of 0 and 1."""
    if (named := _named(names, LABEL_NAMES, taken)) is not None:
        return named, ()
    fitting, switches = [], []
    for name in names:
        values = Counter(row.fields.get(name, "").strip() for row in rows)
        few = 1 < len(values) <= min(MOST_CLASSES, max(2, len(rows) // 5))
        if name not in taken and few and max(map(len, values)) <= 60:
            fitting.append(name)
            switches += [name] * (set(values) <= SWITCH)
    if len(fitting) == 1:
        return fitting[0], ()
    if len(switches) > 1 and switches == fitting:
        return None, tuple(switches)
    told = f"{', '.join(fitting)} could all be" if fitting else "none of its columns looks like"
    raise LabelledError(f"{path}: {told} the label; say which with data.label=NAME (it has {', '.join(names)})")


def _longest(path: Path, rows: Sequence[TableRow], names: Sequence[str]) -> str:
    if not names:
        raise LabelledError(f"{path} has no column of texts beside its labels; add one")
    return max(names, key=lambda name: sum(len(row.fields.get(name, "")) for row in rows))


def _alike(rows: Sequence[TableRow], text: str, names: Sequence[str]) -> str | None:
    """In a table without headings: the one other column whose texts are about as long and as different."""
    if len(names) != 1:
        return None
    size = {name: sum(len(row.fields.get(name, "")) for row in rows) for name in (text, names[0])}
    values = {row.fields.get(names[0], "") for row in rows}
    return names[0] if size[names[0]] > ALIKE * size[text] and 2 * len(values) > len(rows) else None


def _numbered(text: str, names: Sequence[str]) -> str | None:
    """With headings: the one other column whose name differs by a number at its end, as 问题一 and 问题二."""
    stem = _NUMBER.sub("", text)
    found = [name for name in names if name != text and _NUMBER.sub("", name) == stem]
    return found[0] if stem and stem != text and len(found) == 1 else None


def read_labelled(
    path: Path, columns: LabelColumns, on_empty: Callable[[int, str], None] | None = None
) -> Iterator[LabelledText]:
    """Every text with its label; an empty one is refused by its line, but no label at all may be what is meant.

    on_empty: is told of the line and the column instead, and the row is left out.
    """
    needed = [columns.text, *((columns.second,) if columns.second else ())]
    needed += [columns.label] if columns.kind != "several" else []
    for line, fields in read_rows(path):
        empty = next((name for name in needed if not fields.get(name, "").strip()), None)
        if empty is not None and on_empty is None:
            raise LabelledError(f"{path}, line {line} has nothing in column {empty!r}: fill it in or remove the row")
        if empty is not None and on_empty is not None:
            on_empty(line, empty)
            continue
        label = _label(path, line, fields, columns)
        second = fields[columns.second] if columns.second else None
        place = (fields.get(columns.origin, "") if columns.origin else "") or f"{path}:{line}"
        yield LabelledText(fields[columns.text], second, label, line, place)


def _label(path: Path, line: int, fields: dict[str, str], columns: LabelColumns) -> str:
    for name in columns.labels:
        if fields.get(name, "").strip() not in SWITCH:
            raise LabelledError(
                f"{path}, line {line} has {fields.get(name, '')[:40]!r} in column {name!r}: write 0 or 1"
            )
    if columns.labels:
        return join_labels([name for name in columns.labels if fields[name].strip() == "1"])
    cell = fields.get(columns.label, "").strip()
    if columns.kind == "several":
        return join_labels(split_labels(cell))
    if columns.kind == "number" and number_in(cell) is None:
        raise LabelledError(f"{path}, line {line} has {cell[:40]!r} in column {columns.label!r}: write a number")
    return cell
