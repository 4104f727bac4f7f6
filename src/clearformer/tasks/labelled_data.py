"""What a classifier of texts learns from: a table of texts with labels, read and split as [data] says."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from clearformer.data.class_split import hold_out_by_class
from clearformer.data.readers.label_cells import LabelKind
from clearformer.data.readers.labelled import LabelColumns, LabelledText, find_columns, read_labelled
from clearformer.data.readers.tables import LabelledError, read_rows
from clearformer.data.readers.texts import is_table, read_texts
from clearformer.inference.text_windows import TextOrPair
from clearformer.tasks.data_files import DataFiles, file_names
from clearformer.text.lines import read_lines
from clearformer.text.train_tokenizer import TokenizerConfig


@dataclass(frozen=True, kw_only=True)
class LabelledData(DataFiles):
    """A table (CSV, TSV, JSON lines) with a text and a label in each row; columns that are not named are found."""

    train: str = file_names("a table of texts with labels")  # a table to learn from
    dev: str = file_names()  # a table to choose the best checkpoint by; empty: some of train
    test: str = file_names()  # a table for the end
    unlabelled: str = file_names()  # texts without labels, a table or one per line, which a teacher labels in `distill`
    lessons: str = file_names()  # what `distill` wrote: texts with a teacher's probabilities, in place of train's texts
    text: str | None = None  # the name of the text's column, or its number from 1 where there are no headings
    label: str | None = None  # the name of the label's column
    classes: tuple[str, ...] = ()  # class names, where the labels are their numbers from 0
    names: str = file_names()  # the same as a file, one name on each line
    second: str | None = None  # the name of a second text's column, where the class belongs to a pair
    kind: LabelKind = "one"  # what a label is: one class, several (`a|b`, `a;b` or a JSON list), or a number
    labels: tuple[str, ...] = ()  # several: the names of columns of 0 and 1, one per label, in place of `label`
    origin: str | None = None  # the name of a column that says where a row came from, for reports
    hold_out: float = 0.1  # share of each class, where there is no dev
    vocabulary: TokenizerConfig = field(default_factory=lambda: TokenizerConfig(kind="wordpiece"))
    max_length: int = 256  # tokens; of a longer text the beginning is read, and how many are is said
    overlap: bool = False  # pairs: tell the model which tokens both texts have
    word_dropout: float = 0.0  # chance that a token is hidden in training


def split(data: LabelledData, folder: Path) -> tuple[list[LabelledText], list[LabelledText]]:
    """The texts for training and for development, which are some of the former where [data] names no others."""
    names = class_names(data, folder)
    train = _read(folder / data.train, data, names)
    if data.dev:
        return train, _read(folder / data.dev, data, names)
    classes = ["" if data.kind == "number" else row.label for row in train]
    held = hold_out_by_class([_key(row) for row in train], classes, share=data.hold_out)
    dev = [row for row, out in zip(train, held, strict=True) if out]
    return [row for row, out in zip(train, held, strict=True) if not out], dev


def class_names(data: LabelledData, folder: Path) -> Sequence[str] | None:
    """The classes in the order that [data], or a file that it names, gives."""
    if data.classes and data.names:
        raise ValueError("data.classes and data.names both name the classes; keep one of them")
    return (data.classes or None) if not data.names else list(read_lines(folder / data.names))


def unlabelled(data: LabelledData, folder: Path) -> Iterator[TextOrPair]:
    """The texts, or pairs of texts, that nobody has labelled; columns are those of the training table."""
    path, columns = folder / data.unlabelled, _columns(folder / data.train, data)
    if columns.second is None:
        there = is_table(path) and columns.text in next(iter(read_rows(path))).fields
        return (one.text for one in read_texts(path, text=columns.text if there else None))
    if not is_table(path):
        raise LabelledError(f"{path} is no table, but a class belongs to a pair of texts; give one with both columns")
    return _pairs(path, columns.text, columns.second)


def _pairs(path: Path, text: str, second: str) -> Iterator[TextOrPair]:
    for line, fields in read_rows(path):
        for name in (text, second):
            if not fields.get(name, "").strip():
                raise LabelledError(f"{path}, line {line} has nothing in column {name!r}: fill it in or remove the row")
        yield fields[text], fields[second]


def _columns(path: Path, data: LabelledData) -> LabelColumns:
    told = {name: getattr(data, name) for name in ("text", "label", "second", "labels", "origin", "kind")}
    return find_columns(path, **told)


def _read(path: Path, data: LabelledData, names: Sequence[str] | None) -> list[LabelledText]:
    return named(path, list(read_labelled(path, _columns(path, data))), names)


def named(path: Path, rows: list[LabelledText], names: Sequence[str] | None) -> list[LabelledText]:
    """The rows with the names of their classes in place of numbers, where there are names."""
    if names is None:
        return rows
    known = {str(number): name for number, name in enumerate(names)}
    if wrong := next((row for row in rows if row.label not in known), None):
        raise ValueError(
            f"{path}, line {wrong.line}: the label {wrong.label!r} is no number of one of {len(known)} class names"
        )
    return [row._replace(label=known[row.label]) for row in rows]


def _key(row: LabelledText) -> tuple[str, ...]:
    return tuple(" ".join(text.casefold().split()) for text in (row.text, row.second or ""))


def as_given(row: LabelledText) -> TextOrPair:
    """A text, or a pair of texts."""
    return row.text if row.second is None else (row.text, row.second)
