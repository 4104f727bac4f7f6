"""The rows of tables: CSV, TSV or JSON lines, plain or gzipped. What cannot be read is refused by file and line."""

import csv
import json
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from clearformer.text.lines import peek_lines, read_lines

TEXT_NAMES = ("text", "sentence", "review", "content", "comment", "title", "tweet", "body", "message", "sentence1",
              "question1", "text_a", "premise", "文本", "内容", "评论", "标题", "句子")  # fmt: skip
SECOND_NAMES = ("sentence2", "question2", "text_b", "hypothesis", "second")
LABEL_NAMES = ("label", "labels", "class", "category", "sentiment", "target", "intent", "topic", "stars", "rating",
               "polarity", "tag", "score", "标签", "类别", "情感", "分类")  # fmt: skip
LONG_NAMES = ("text", "article", "document", "body", "email", "mail", "content", "dialogue", "story", "message",
              "source", "正文", "内容", "文本", "文章")  # fmt: skip
SHORT_NAMES = ("summary", "subject", "headline", "highlights", "abstract", "tldr", "title", "摘要", "标题", "主题")
SOUND_NAMES = ("file", "path", "audio", "wav", "filename", "file_name", "recording", "sound", "音频", "文件")
SPOKEN_NAMES = ("transcript", "transcription", "转写")
KNOWN_NAMES = {
    *LONG_NAMES, *SHORT_NAMES, *TEXT_NAMES, *SECOND_NAMES, *LABEL_NAMES, *SOUND_NAMES, *SPOKEN_NAMES,
    "id", "index", "idx",
}  # fmt: skip
SNIFFED = 50  # records, to find what separates columns
PEEKED = 200  # records, to see whether the first one names the columns
FEW_VALUES = 0.2  # of the rows: a column with fewer different values repeats them
csv.field_size_limit(16 << 20)  # characters of one field

Record = tuple[int, list[str]]  # the line where it begins, its fields


class LabelledError(ValueError):
    """A table cannot be read; the message names file and line, and says what to do."""


class TableRow(NamedTuple):
    """The fields of a row by column, and the line where it begins."""

    line: int
    fields: dict[str, str]


def read_rows(path: Path) -> Iterator[TableRow]:
    """The rows of a table; columns without a heading are called by their number, from 1."""
    name = path.name.lower().removesuffix(".gz")
    if name.endswith((".jsonl", ".ndjson", ".json")):
        return _read_json(path)
    return _read_delimited(path, "\t" if name.endswith(".tsv") else _sniff(path))


def has_rows(path: Path) -> bool:
    """Whether a table has a row below its headings; a lone line of cells may be headings that nobody knows.

    A table that cannot be read counts as having some: whoever reads it says what is wrong.
    """
    try:
        first = list(islice(read_rows(path), 2))
    except ValueError:
        return True
    return len(first) > 1 or (len(first) == 1 and "1" not in first[0].fields)


def _sniff(path: Path) -> str:
    """The mark that gives every one of the first records as many columns, the usual one first."""
    lines = peek_lines(path, SNIFFED)
    for mark in ",;\t|":
        try:
            widths = {len(fields) for fields in csv.reader(lines, delimiter=mark, quoting=_quoting(mark)) if fields}
        except csv.Error:
            continue
        if len(widths) == 1 and widths.pop() > 1:
            return mark
    top = next((line for line in lines if line.strip()), "")
    mark = max(",;\t|", key=top.count)  # the first line speaks for the rest, which is refused line by line
    if mark not in top and not path.name.lower().removesuffix(".gz").endswith(".csv"):
        raise LabelledError(f"{path} has no columns: separate text and label by a tab or a comma, or give JSON lines")
    return mark


def _quoting(mark: str) -> Any:
    """Between tabs a quotation mark is a character like any other."""
    return csv.QUOTE_NONE if mark == "\t" else csv.QUOTE_MINIMAL


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
        yield TableRow(number, {key: _plain(path, number, value) for key, value in record.items()})


def _plain(path: Path, number: int, value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if any("\ud800" <= letter <= "\udfff" for letter in text):  # JSON can name half a character, and no text holds one
        raise LabelledError(f"{path}, line {number} has half a character (a lone surrogate \\udXXX): mend or remove it")
    return text


def _read_delimited(path: Path, mark: str) -> Iterator[TableRow]:
    records = _records(path, mark)
    first = list(islice(records, PEEKED))
    if not first:
        return
    names, is_data = _headings([fields for _, fields in first])
    for line, fields in chain(first if is_data else first[1:], records):
        if len(fields) != len(names):
            raise LabelledError(
                f"{path}, line {line} has {len(fields)} columns where {len(names)} are expected: mend it"
            )
        yield TableRow(line, dict(zip(names, fields, strict=True)))


def _records(path: Path, mark: str) -> Iterator[Record]:
    lines = (f"{line}\n" for line in read_lines(path))
    reader = csv.reader(lines, delimiter=mark, strict=True, quoting=_quoting(mark))
    start = 1
    try:
        for fields in reader:
            if fields:
                yield start, fields
            start = reader.line_num + 1
    except csv.Error as error:
        raise LabelledError(
            f"{path}, line {start}: a quotation mark opens and is not closed as it should be ({error}): mend that line"
        ) from None


def _headings(records: Sequence[list[str]]) -> tuple[list[str], bool]:
    """The names of the columns, and whether the first row is data already."""
    first = [name.strip().lstrip("\ufeff") for name in records[0]]
    lowered = [name.lower() for name in first]
    plain = all(name and len(name) <= 30 and len(name.split()) <= 3 for name in lowered)
    if plain and len(set(lowered)) == len(lowered) and (set(lowered) & KNOWN_NAMES or _stands_apart(first, records)):
        return first, False
    return [str(number) for number in range(1, len(first) + 1)], True


def _stands_apart(first: Sequence[str], records: Sequence[list[str]]) -> bool:
    """Whether a column repeats a few values, or holds numbers, and the first row has something else there."""
    rest = [fields for fields in records[1:] if len(fields) == len(first)]
    for place, name in enumerate(first):
        values = {fields[place].strip() for fields in rest}
        repeats = 1 < len(values) <= FEW_VALUES * len(rest)
        numbers = all(_is_number(value) for value in values) and bool(values)
        if name not in values and (repeats or numbers) and not _is_number(name):
            return True
    return False


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
