"""Sentences with a tag for each word: CoNLL files, plain or gzipped.

One word a line, its tag in the last column that holds tags, a blank line between sentences; columns are separated by
tabs or spaces. The word is in the first column, or in the second if the first counts the words of each sentence.
Tags in IOBES or BMES become B, I and O. What cannot be read is refused by file and line; nothing is dropped but
`-DOCSTART-`, which is no sentence.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from clearformer.data.entity_tags import parts, to_bio
from clearformer.text.lines import peek_lines, read_lines

Illegal = Literal["refuse", "repair"]
_SPACES = re.compile("[ \t]+")
_DOCUMENT = "-DOCSTART-"
LOOKED_AT = 400  # lines, to find the column of the tags
FEWEST_LINES = 10  # of which a file is known by its content: one line of prose may end with B-flat
COUNTED_COLUMNS = 3  # at least: a number, a word and a tag
NO_WORD = "\ufffd"  # stands for a word that is missing


class ConllError(ValueError):
    """A file cannot be read; the message names file and line, and says what to do."""


class TaggedSentence(NamedTuple):
    """Words with their tags as B, I and O. repaired: the lines on which something was mended. place: file and line."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    line: int
    repaired: tuple[int, ...] = ()
    place: str = ""


class _Line(NamedTuple):
    number: int
    word: str
    tag: str


def read_conll(path: Path, *, illegal: Illegal = "refuse") -> Iterator[TaggedSentence]:
    """Every sentence of a file.

    illegal: `repair` lets an I-X that follows no X begin an entity, and puts U+FFFD where a tag has no word; the lines
    are told.
    """
    rows: list[_Line] = []
    column = _tag_column(_first_rows(path)) or -1
    first = int(_counts_words(path))
    for number, line in enumerate(read_lines(path), start=1):
        if line.startswith(_DOCUMENT):
            continue
        if line.strip(" \t"):
            rows.append(_columns(path, number, _fields(line)[first:], column, illegal))
        elif rows:
            yield _sentence(path, rows, illegal)
            rows = []
    if rows:
        yield _sentence(path, rows, illegal)


def looks_like_conll(path: Path) -> bool:
    """Whether the lines of a file are words with tags, some of which mark entities, whatever the file is called."""
    if not path.is_file():
        return False
    rows = _first_rows(path)
    return len(rows) >= FEWEST_LINES and len(set(map(len, rows))) == 1 and _tag_column(rows) is not None


def _first_rows(path: Path) -> list[list[str]]:
    lines = peek_lines(path, LOOKED_AT)
    return [_fields(line) for line in lines if line.strip(" \t") and not line.startswith(_DOCUMENT)]


def _counts_words(path: Path) -> bool:
    """Whether the first of several columns is 1, 2, 3 … in each sentence, and so no column of words."""
    count, most = 0, 0
    for line in peek_lines(path, LOOKED_AT):
        if not line.strip(" \t") or line.startswith(_DOCUMENT):
            count = 0
            continue
        count += 1
        most = max(most, count)
        fields = _fields(line)
        if len(fields) < COUNTED_COLUMNS or fields[0] != str(count):
            return False
    return most > 1


def _tag_column(rows: list[list[str]]) -> int | None:
    """The last column that holds nothing but tags, counted from the end (-1)."""
    width = min(map(len, rows), default=0)
    for column in range(-1, -width, -1):  # the first column has the words
        tags = [parts(fields[column]) for fields in rows]
        if all(tags) and any(one and one[1] for one in tags):
            return column
    return None


def _fields(line: str) -> list[str]:
    kept = line.rstrip(" \t")
    return [one.strip(" ") for one in kept.split("\t")] if "\t" in kept else _SPACES.split(kept.lstrip(" "))


def _columns(path: Path, number: int, fields: list[str], column: int, illegal: Illegal) -> _Line:
    if len(fields) < max(2, -column):
        shown = "\t".join(fields)[:40]
        raise ConllError(f"{path}, line {number} has one column ({shown!r}): write a word, a tab and its tag")
    if not fields[0] and illegal == "refuse":
        raise ConllError(f'{path}, line {number} has a tag and no word: mend it, or say illegal = "repair"')
    tag = fields[column]
    if parts(tag) is None:
        raise ConllError(
            f"{path}, line {number}: {tag[:40]!r} is no tag; write O, or B-, I-, M-, E- or S- before a type"
        )
    return _Line(number, fields[0] or NO_WORD, tag)


def _sentence(path: Path, rows: list[_Line], illegal: Illegal) -> TaggedSentence:
    made, odd = to_bio([row.tag for row in rows])
    if odd and illegal == "refuse":
        row, place = rows[odd[0]], odd[0]
        before = f"after {rows[place - 1].tag}" if place else "at the beginning of a sentence"
        raise ConllError(
            f"{path}, line {row.number}: {row.tag} {before} continues no entity; mend it, or say "
            'illegal = "repair" to let it begin one'
        )
    mended = {*odd, *(place for place, row in enumerate(rows) if row.word == NO_WORD)}
    words = tuple(row.word for row in rows)
    return TaggedSentence(
        words=words,
        tags=tuple(made),
        line=rows[0].number,
        repaired=tuple(rows[place].number for place in sorted(mended)),
        place=f"{path}:{rows[0].number}",
    )
