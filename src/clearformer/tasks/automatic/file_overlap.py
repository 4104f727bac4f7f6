"""Which texts of a test file stand in the training file, too: a score tells then what was learned by heart."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from clearformer.data.readers.conll import looks_like_conll, read_conll
from clearformer.data.readers.labelled import find_columns, find_text
from clearformer.data.readers.squad import read_questions
from clearformer.data.readers.tables import LabelledError, read_rows
from clearformer.data.readers.texts import is_table
from clearformer.text.lines import read_lines

SHOWN = 5  # examples


@dataclass(frozen=True, kw_only=True)
class OverlapReport:
    """How many texts of the test are in both files, and where the first of them stand."""

    train: str
    test: str
    texts: int
    found: list[str]
    fatal: bool = False

    def to_text(self) -> str:
        told = f"{self.test}: {len(self.found):,} of {self.texts:,} texts are in {self.train}, too"
        if not self.found:
            return told
        return "\n".join([told + "; take them out of one of the two", *(f"   {one}" for one in self.found[:SHOWN])])

    def to_json(self) -> str:
        told = {"fatal": self.fatal, "train": self.train, "test": self.test, "texts": self.texts}
        shared = {"shared": len(self.found), "findings": self.found[:SHOWN]}
        return json.dumps({**told, **shared}, ensure_ascii=False, indent=2)


def file_overlap(train: Path, test: Path) -> OverlapReport:
    """Compare two files of the same kind, text by text; case and spaces do not count."""
    known: dict[str, str] = {}
    for place, text in _texts(train):
        known.setdefault(text, place)
    asked = list(_texts(test))
    found = [f"{place}: as {known[text]}" for place, text in asked if text in known]
    return OverlapReport(train=str(train), test=str(test), texts=len(asked), found=found)


def _texts(path: Path) -> Iterator[tuple[str, str]]:
    """Each text that a model would read, with its place; blank ones are nobody's."""
    for place, text in _read(path):
        if key := " ".join(text.casefold().split()):
            yield place, key


def _read(path: Path) -> Iterator[tuple[str, str]]:
    if looks_like_conll(path):
        for sentence in read_conll(path, illegal="repair"):
            yield f"{path}:{sentence.line}", " ".join(sentence.words)
    elif path.name.lower().removesuffix(".gz").endswith(".json"):
        for asked in read_questions(path, lambda place, problem: None):
            yield f"{path}, question {asked.id}", f"{asked.question} {asked.context}"
    elif is_table(path):
        names = _columns(path)
        for line, fields in read_rows(path):
            yield f"{path}:{line}", " ".join(fields.get(name, "") for name in names)
    else:
        for line, text in enumerate(read_lines(path), start=1):
            yield f"{path}:{line}", text


def _columns(path: Path) -> list[str]:
    """The columns that hold the text, or both texts of a pair."""
    try:
        found = find_columns(path)
    except LabelledError:  # without labels, or with summaries in their place
        return [find_text(path)]
    return [found.text, *([found.second] if found.second else [])]
