"""Sentences with a tag for each word: CoNLL files, plain or gzipped.

One word a line, its tag in the last column, a blank line between sentences; columns are separated by tabs or spaces.
Tags in IOBES or BMES become B, I and O. What cannot be read is refused by file and line; nothing is dropped but
`-DOCSTART-`, which is no sentence.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from clearformer.data.entity_tags import parts, to_bio
from clearformer.text.lines import read_lines

Illegal = Literal["refuse", "repair"]
_SPACES = re.compile("[ \t]+")
_DOCUMENT = "-DOCSTART-"
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
    for number, line in enumerate(read_lines(path), start=1):
        if line.startswith(_DOCUMENT):
            continue
        if line.strip(" \t"):
            rows.append(_columns(path, number, line, illegal))
        elif rows:
            yield _sentence(path, rows, illegal)
            rows = []
    if rows:
        yield _sentence(path, rows, illegal)


def _columns(path: Path, number: int, line: str, illegal: Illegal) -> _Line:
    kept = line.rstrip(" \t")
    fields = [one.strip(" ") for one in kept.split("\t")] if "\t" in kept else _SPACES.split(kept.lstrip(" "))
    if len(fields) < 2:
        raise ConllError(f"{path}, line {number} has one column ({line[:40]!r}): write a word, a tab and its tag")
    if not fields[0] and illegal == "refuse":
        raise ConllError(f'{path}, line {number} has a tag and no word: mend it, or say illegal = "repair"')
    if parts(fields[-1]) is None:
        raise ConllError(
            f"{path}, line {number}: {fields[-1][:40]!r} is no tag; write O, or B-, I-, M-, E- or S- before a type"
        )
    return _Line(number, fields[0] or NO_WORD, fields[-1])


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
