"""What gives a label away: a column that says it once more, and a word that stands in the texts of one class alone.

A classifier that learns from such texts scores well here and fails on texts that nobody has prepared.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from clearformer.data.readers.labelled import LabelColumns, LabelledText
from clearformer.data.readers.tables import TableRow

FEWEST = 20  # texts of a class, below which a word may be there by chance
TELLING = 0.95  # of the rows that a leak explains
ELSEWHERE = 0.02  # of the other texts that may have the word, too
OFTEN = 5  # rows for each value of a column, on average: more values are names of rows
_WORD = re.compile(r"\w+")


class Leak(NamedTuple):
    """line: where the first of the rows is that it explains."""

    line: int
    said: str


def leaking_columns(rows: Sequence[TableRow], columns: LabelColumns) -> Iterator[Leak]:
    """Columns that are not read, whose few values nearly decide the label."""
    used = {columns.text, columns.label, columns.second, columns.origin, *columns.labels}
    labels = [row.fields.get(columns.label, "") for row in rows]
    if len(set(labels)) < 2:
        return
    most = max(Counter(labels).values())
    for name in rows[0].fields:
        values = [row.fields.get(name, "") for row in rows]
        if name in used or not 1 < len(set(values)) <= len(rows) // OFTEN:
            continue
        best: dict[str, int] = {}
        for (value, _), count in Counter(zip(values, labels, strict=True)).items():
            best[value] = max(best.get(value, 0), count)
        right = sum(best.values())
        # What is left is compared with guessing the commonest label, which is right often where classes are uneven.
        if right >= TELLING * len(rows) and len(rows) - right <= (1 - TELLING) * (len(rows) - most):
            told = f"column {name!r} decides the label of {right / len(rows):.0%} of the rows; it is not read, and "
            yield Leak(rows[0].line, told + "must not be in the text either")


def leaking_words(rows: Sequence[LabelledText]) -> Iterator[Leak]:
    """For each class the word, if there is one, that stands in nearly all of its texts and in hardly any other."""
    words = [frozenset(_WORD.findall(f"{row.text} {row.second or ''}".casefold())) for row in rows]
    everywhere = Counter(word for found in words for word in found)
    sizes = Counter(row.label for row in rows)
    for label, size in sizes.items():
        if size < FEWEST or len(rows) - size < FEWEST:
            continue
        here = Counter(word for row, found in zip(rows, words, strict=True) if row.label == label for word in found)
        there = len(rows) - size
        telling = [
            word
            for word, count in here.items()
            if count >= TELLING * size and everywhere[word] - count <= ELSEWHERE * there
        ]
        if telling:
            word = max(telling, key=lambda one: (here[one], one == label.casefold()))
            line = next(row.line for row, found in zip(rows, words, strict=True) if word in found)
            others = (everywhere[word] - here[word]) / there
            told = f"the word {word!r} is in {here[word] / size:.0%} of the texts of {label!r} and in {others:.0%} of "
            yield Leak(line, told + "the others; does it belong to the text?")
