"""Texts with labels from tables: CSV, TSV or JSON lines, plain or gzipped, with columns that are named or found.

What cannot be read is refused by file and line; nothing is dropped.
"""

import csv
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from clearformer.text.lines import read_lines

TEXT_NAMES = ("text", "sentence", "review", "content", "comment", "title", "tweet", "body", "message", "sentence1",
              "question1", "text_a", "premise", "文本", "内容", "评论", "标题", "句子")  # fmt: skip
SECOND_NAMES = ("sentence2", "question2", "text_b", "hypothesis", "second")
LABEL_NAMES = ("label", "labels", "class", "category", "sentiment", "target", "intent", "topic", "stars", "rating",
               "polarity", "tag", "标签", "类别", "情感", "分类")  # fmt: skip
LOOKED_AT = 2000  # rows, to find the columns
MOST_CLASSES = 200
csv.field_size_limit(16 << 20)  # characters of one field


class LabelledError(ValueError):
    """A table cannot be read; the message names file and line, and says what to do."""


class TableRow(NamedTuple):
    """The fields of a row by column, and the line where it begins."""

    line: int
    fields: dict[str, str]


class LabelledText(NamedTuple):
    """A text with its class; `second` where the class belongs to a pair of texts."""

    text: str
    second: str | None
    label: str
    line: int


@dataclass(frozen=True, kw_only=True)
class LabelColumns:
    """Which column is what."""

    text: str
    label: str
    second: str | None = None


def read_rows(path: Path) -> Iterator[TableRow]:
    """The rows of a table; columns without a heading are called by their number, from 1."""
    name = path.name.lower().removesuffix(".gz")
    if name.endswith((".jsonl", ".ndjson", ".json")):
        return _read_json(path)
    return _read_delimited(path, "," if name.endswith(".csv") else "\t" if name.endswith(".tsv") else _sniff(path))


def _sniff(path: Path) -> str:
    counts = Counter({mark: min(line.count(mark) for line in islice(read_lines(path), 20)) for mark in "\t;,|"})
    mark, count = counts.most_common(1)[0]
    if not count:
        raise LabelledError(f"{path} has no columns: separate text and label by a tab or a comma, or give JSON lines")
    return mark


def _read_json(path: Path) -> Iterator[TableRow]:
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise LabelledError(f"{path}, line {number} is not JSON ({error}): mend or remove it") from None
        if not isinstance(record, dict):
            raise LabelledError(f"{path}, line {number} is not a JSON object with columns: mend or remove it")
        yield TableRow(number, {key: _plain(value) for key, value in record.items()})


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _read_delimited(path: Path, mark: str) -> Iterator[TableRow]:
    quoted = mark == ","  # elsewhere a quotation mark is a character like any other
    lines = (f"{line}\n" for line in read_lines(path))
    reader = csv.reader(lines, delimiter=mark, strict=True, quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE)
    names: list[str] | None = None
    start = 1
    try:
        for fields in reader:
            if fields:
                if names is None:
                    names, is_data = _headings(fields)
                    if not is_data:
                        start = reader.line_num + 1
                        continue
                if len(fields) != len(names):
                    raise LabelledError(
                        f"{path}, line {start} has {len(fields)} columns where {len(names)} are expected: mend it"
                    )
                yield TableRow(start, dict(zip(names, fields, strict=True)))
            start = reader.line_num + 1
    except csv.Error as error:
        raise LabelledError(
            f"{path}, line {start}: a quotation mark opens and is not closed as it should be ({error}): mend that line"
        ) from None


def _headings(first: Sequence[str]) -> tuple[list[str], bool]:
    """The names of the columns, and whether the first row is data already."""
    lowered = [name.strip().lower().lstrip("\ufeff") for name in first]
    known = {*TEXT_NAMES, *SECOND_NAMES, *LABEL_NAMES, "id", "index", "idx"}
    plain = all(name and len(name) <= 30 and len(name.split()) <= 3 for name in lowered)
    if any(name in known for name in lowered) and plain and len(set(lowered)) == len(lowered):
        return [name.strip().lstrip("\ufeff") for name in first], False
    return [str(number) for number in range(1, len(first) + 1)], True


def find_columns(
    path: Path, *, text: str | None = None, label: str | None = None, second: str | None = None
) -> LabelColumns:
    """Which columns hold the text and its label: as said, by name, or by what stands in them."""
    rows = list(islice(read_rows(path), LOOKED_AT))
    if not rows:
        raise LabelledError(f"{path} has no rows: give a table with a text and a label in each")
    names = list(rows[0].fields)
    for told in (text, label, second):
        if told is not None and told not in names:
            raise LabelledError(f"{path} has no column {told!r}; it has {', '.join(names)}")
    chosen = label or _named(names, LABEL_NAMES, {text, second}) or _label_like(path, rows, names, {text, second})
    found = text or _named(names, TEXT_NAMES, {chosen, second}) or _longest(rows, [n for n in names if n != chosen])
    pair = second or _named(names, SECOND_NAMES, {chosen, found})
    return LabelColumns(text=found, label=chosen, second=pair)


def find_text(path: Path, text: str | None = None) -> str:
    """Which column of a table holds the text, where nothing else is asked of it: as said, by name, or the longest."""
    rows = list(islice(read_rows(path), LOOKED_AT))
    names = list(rows[0].fields) if rows else []
    if not names:
        raise LabelledError(f"{path} has no rows: give a table with a text in each")
    if text is not None and text not in names:
        raise LabelledError(f"{path} has no column {text!r}; it has {', '.join(names)}")
    return text or _named(names, TEXT_NAMES, set()) or _longest(rows, names)


def _named(names: Sequence[str], known: Sequence[str], taken: set[str | None]) -> str | None:
    by_name = {name.lower(): name for name in names if name not in taken}
    return next((by_name[word] for word in known if word in by_name), None)


def _label_like(path: Path, rows: Sequence[TableRow], names: Sequence[str], taken: set[str | None]) -> str:
    """The one column with few different short values, each of them several times."""
    fitting = []
    for name in names:
        values = Counter(row.fields.get(name, "") for row in rows)
        few = 1 < len(values) <= min(MOST_CLASSES, max(2, len(rows) // 5))
        if name not in taken and few and max(map(len, values)) <= 60:
            fitting.append(name)
    if len(fitting) == 1:
        return fitting[0]
    told = f"{', '.join(fitting)} could all be" if fitting else "none of its columns looks like"
    raise LabelledError(f"{path}: {told} the label; say which with data.label=NAME (it has {', '.join(names)})")


def _longest(rows: Sequence[TableRow], names: Sequence[str]) -> str:
    return max(names, key=lambda name: sum(len(row.fields.get(name, "")) for row in rows))


def read_labelled(path: Path, columns: LabelColumns) -> Iterator[LabelledText]:
    """Every text with its label; an empty one is refused by its line."""
    for line, fields in read_rows(path):
        for name in (columns.text, columns.label, *((columns.second,) if columns.second else ())):
            if not fields.get(name, "").strip():
                raise LabelledError(f"{path}, line {line} has nothing in column {name!r}: fill it in or remove the row")
        second = fields[columns.second] if columns.second else None
        yield LabelledText(fields[columns.text], second, fields[columns.label].strip(), line)
