"""Texts without anything beside them: the lines of a text file, or one column of a table; plain or gzipped."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from clearformer.data.readers.labelled import find_text
from clearformer.data.readers.tables import LabelledError, read_rows
from clearformer.text.lines import read_lines

TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")


class PlainText(NamedTuple):
    """A text, and its class where a column with classes was named: parts are held out by it."""

    text: str
    label: str


def is_table(path: Path) -> bool:
    """Whether a file has columns, by its name."""
    return path.name.lower().removesuffix(".gz").endswith(TABLES)


def read_texts(path: Path, *, text: str | None = None, label: str | None = None) -> Iterator[PlainText]:
    """Every text that is not blank. text, label: columns of a table; without a name the text's is found."""
    if not is_table(path):
        if text or label:
            raise LabelledError(f"{path} is no table, so it has no column {text or label!r}; leave the name out")
        return (PlainText(line, "") for line in read_lines(path) if line.strip())
    return _read_column(path, find_text(path, text), label)


def read_documents(path: Path, *, separator: str = "") -> Iterator[str]:
    """Texts that have nothing to do with each other: the rows of a table, or what stands between lines that are the
    separator (a line end as separator: between empty lines). Without one, a text file is one document.
    """
    if is_table(path):
        yield from (row.text for row in read_texts(path))
        return
    between, lines = separator.strip(), list[str]()
    for line in read_lines(path):
        if separator and line.strip() == between:
            yield "\n".join(lines)
            lines = []
        else:
            lines.append(line)
    yield "\n".join(lines)


def _read_column(path: Path, text: str, label: str | None) -> Iterator[PlainText]:
    for line, fields in read_rows(path):
        if label is not None and label not in fields:
            raise LabelledError(f"{path}, line {line} has no column {label!r}; it has {', '.join(fields)}")
        if fields.get(text, "").strip():
            yield PlainText(fields[text], "" if label is None else fields[label].strip())
