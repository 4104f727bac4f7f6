"""From what an origin serves to the file that recipes read, in small steps that the catalogue names.

A step takes the documents that arrived, one for each address, and gives documents back. Steps are pure functions of
bytes, so the same origin gives the same file everywhere; the catalogue's checksum of the result says whether it did.
"""

from __future__ import annotations

import csv
import io
import json
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from typing import Any

from clearformer.data.catalogue.keep_apart import divide

MAX_BYTES = 1 << 28  # a corpus that is prepared is held in memory; those that are prepared have a tenth of this

Documents = list[bytes]


class PrepareError(Exception):
    """What arrived cannot be prepared; the message is half a sentence that names the step."""


def prepare(documents: Sequence[bytes], steps: Sequence[str], *, max_bytes: int = MAX_BYTES) -> bytes:
    """Take the steps in order and put what is left together."""
    documents = list(documents)
    for step in steps:
        name, *arguments = step.split(" ")
        try:
            documents = STEPS[name](documents, *arguments)
        except (
            ValueError,
            LookupError,
            TypeError,
            csv.Error,
            zipfile.BadZipFile,
            zlib.error,
            NotImplementedError,
        ) as problem:
            raise PrepareError(f"the step {step!r} failed ({_first_line(problem)})") from problem
        if sum(map(len, documents)) > max_bytes:
            raise PrepareError(f"the step {step!r} gave more than {max_bytes:,} bytes")
    return b"".join(documents)


def member(documents: Documents, name: str) -> Documents:
    """The file of that name in each zip archive."""
    return [_unzip(document, name) for document in documents]


def decode(documents: Documents, *encodings: str) -> Documents:
    """UTF-8 from the first of these encodings that fits: bytes of Windows-1252 are hardly ever UTF-8 by chance."""
    return [_decoded(document, encodings).encode() for document in documents]


def join(documents: Documents) -> Documents:
    """One document after the other, as one."""
    return [b"".join(documents)]


def trim(documents: Documents) -> Documents:
    """Spaces, tabs and carriage returns at both ends of every line go."""
    return _each_line(documents, lambda line: line.strip(" \t\r"))


def one_space(documents: Documents) -> Documents:
    """Every run of white space inside a column becomes one space, also the spaces that do not break."""
    return _each_line(documents, lambda line: "\t".join(" ".join(cell.split()) for cell in line.split("\t")))


def tab_after_first_word(documents: Documents) -> Documents:
    """A label that stands before a sentence becomes a column of its own."""
    return _each_line(documents, lambda line: "\t".join(line.split(" ", 1)))


def columns(documents: Documents, *numbers: str) -> Documents:
    """These columns, counted from 1, in this order."""
    return _each_line(documents, lambda line: "\t".join(line.split("\t")[int(number) - 1] for number in numbers))


def labels(documents: Documents, *names: str) -> Documents:
    """A first column that says from which document a line comes: the first name for the first document."""
    labelled = zip(documents, names, strict=True)
    return [_text(f"{name}\t{line}" for line in _lines(document)) for document, name in labelled]


def rows(documents: Documents, start: str, stop: str) -> Documents:
    """Those lines of every document, counted from 0, the last one not included."""
    return [_text(islice(_lines(document), int(start), int(stop))) for document in documents]


def header(documents: Documents, *names: str) -> Documents:
    """A first line with the names of the columns."""
    return ["\t".join(names).encode() + b"\n" + document for document in documents]


def without_header(documents: Documents) -> Documents:
    """All but the first line."""
    return [_text(islice(_lines(document), 1, None)) for document in documents]


def from_csv(documents: Documents) -> Documents:
    """Columns between tabs instead of commas and quotation marks; a tab or a line end in a cell becomes a space."""
    return [
        _text("\t".join(" ".join(cell.split()) for cell in row) for row in _csv(document)) for document in documents
    ]


def distinct(documents: Documents, count: str) -> Documents:
    """A line whose first columns, so many of them, were there before goes."""
    return [_text(_first_of_each(_lines(document), int(count))) for document in documents]


def compact_json(documents: Documents) -> Documents:
    """The same JSON without spaces between its parts, letters written as they are."""
    return [_compact(json.loads(document)) for document in documents]


def first_places(documents: Documents) -> Documents:
    """SQuAD with every answer at the first place where its text occurs; how often it does is noted if not once."""
    return [_compact(_squad_with_first_places(json.loads(document))) for document in documents]


def apart(documents: Documents, part: str, seed: str, *sizes: str) -> Documents:
    """One part of pairs that are divided so that no sentence is in two parts: see `keep_apart.divide`."""
    return [_text(_divided(document, int(seed), tuple(map(int, sizes)))[part]) for document in documents]


STEPS: dict[str, Callable[..., Documents]] = {
    "member": member,
    "decode": decode,
    "join": join,
    "trim": trim,
    "one-space": one_space,
    "tab-after-first-word": tab_after_first_word,
    "columns": columns,
    "labels": labels,
    "rows": rows,
    "header": header,
    "without-header": without_header,
    "from-csv": from_csv,
    "distinct": distinct,
    "compact-json": compact_json,
    "first-places": first_places,
    "apart": apart,
}


def _lines(document: bytes) -> Iterator[str]:
    """Its lines without their ends; a last one need not have any."""
    lines = document.decode().split("\n")
    return iter(lines[:-1] if lines[-1] == "" else lines)


def _text(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def _each_line(documents: Documents, change: Callable[[str], str]) -> Documents:
    return [_text(map(change, _lines(document))) for document in documents]


def _first_of_each(lines: Iterator[str], count: int) -> Iterator[str]:
    seen = set()
    for line in lines:
        key = tuple(line.split("\t")[:count])
        if key not in seen:
            seen.add(key)
            yield line


@lru_cache(maxsize=1)  # all parts and columns of a corpus are made one after the other
def _divided(document: bytes, seed: int, sizes: tuple[int, ...]) -> dict[str, list[str]]:
    return divide(list(_lines(document)), seed=seed, sizes=sizes)


def _decoded(document: bytes, encodings: Sequence[str]) -> str:
    for encoding in encodings[:-1]:
        with suppress(UnicodeDecodeError):
            return document.decode(encoding)
    return document.decode(encodings[-1])


def _csv(document: bytes) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(document.decode(), newline=""))


def _unzip(document: bytes, name: str) -> bytes:
    with zipfile.ZipFile(io.BytesIO(document)) as archive, archive.open(name) as file:
        content = file.read(MAX_BYTES + 1)  # read as far as that, whatever size the archive claims
    if len(content) > MAX_BYTES:
        raise ValueError(f"{name} has more than {MAX_BYTES:,} bytes")
    return content


def _compact(content: Any) -> bytes:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()


def _squad_with_first_places(squad: dict[str, Any]) -> dict[str, Any]:
    articles = [
        {"title": article["title"], "paragraphs": [_paragraph(paragraph) for paragraph in article["paragraphs"]]}
        for article in squad["data"]
    ]
    return {"version": squad["version"], "data": articles}


def _paragraph(paragraph: dict[str, Any]) -> dict[str, Any]:
    context = paragraph["context"]
    questions = [
        {
            "id": qa["id"],
            "question": qa["question"],
            "answers": [_answer(context, one["text"]) for one in qa["answers"]],
        }
        for qa in paragraph["qas"]
    ]
    return {"context": context, "qas": questions}


def _answer(context: str, text: str) -> dict[str, Any]:
    often = context.count(text)
    return {"answer_start": context.index(text), "text": text} | ({"occurrences": often} if often > 1 else {})


def _first_line(problem: Exception) -> str:
    return str(problem).partition("\n")[0] or type(problem).__name__
