"""Texts from several files for learning without labels: what is read, what is held out, and what is never learned from.

Beside the task that uses them, because classifiers begin with models that learned so: a text that a classifier is
judged by must not be among these.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from clearformer.data.class_split import hold_out_by_class
from clearformer.data.readers.texts import PlainText, read_texts
from clearformer.tasks.data_files import DataFiles, file_names, folder_of, several
from clearformer.text.train_tokenizer import TokenizerConfig


@dataclass(frozen=True, kw_only=True)
class UnlabelledText(DataFiles):
    """Text files, and tables (CSV, TSV, JSON lines) of which one column is read."""

    train: str | tuple[str, ...] = file_names("one or more files of text")  # text files and tables to learn from
    dev: str | tuple[str, ...] = file_names()  # texts to choose the best checkpoint by; empty: some of train
    test: str = file_names()  # texts for the end
    without: str | tuple[str, ...] = file_names()  # files whose texts are never learned from, wherever else they stand
    text: str | tuple[str, ...] = ""  # the text's column in tables, or one for each file of train; empty: it is found
    label: str | tuple[str, ...] = ""  # a column with classes: of each as many are held out as for a classifier
    join: bool = True  # lines are read end to end in rows of max_length; false: each line or table row by itself
    hold_out: float = 0.1  # share of the texts, where there is no dev: the end if joined, otherwise some of each class
    vocabulary: TokenizerConfig = field(default_factory=lambda: TokenizerConfig(kind="wordpiece"))
    max_length: int = 128  # tokens that the model sees at a time

    def __post_init__(self) -> None:
        if not 0 < self.hold_out < 1:
            raise ValueError(f"data.hold_out is a share of the texts, above 0 and below 1, not {self.hold_out}")
        if self.max_length < 4:
            raise ValueError(f"data.max_length must be at least 4 tokens, not {self.max_length}")
        for name in ("text", "label"):
            if len(several(getattr(self, name))) not in (1, len(several(self.train))):
                raise ValueError(f"data.{name} names one column for all files of train, or one for each of them")


class Gathered(NamedTuple):
    """Texts to learn from and texts to look at meanwhile, and the files that they come from."""

    train: list[str]
    dev: list[str]
    files: list[Path]


def gather(data: UnlabelledText, base: Path) -> Gathered:
    """Read all files and hold some texts out; a text that is held out anywhere is learned from nowhere."""
    folder = folder_of(data, base)
    names, given = several(data.train), [name for name in several(data.dev) if name]
    columns = [_for_each(value, len(names)) for value in (data.text, data.label)]
    parts = [
        list(read_texts(folder / name, text=text or None, label=label or None))
        for name, text, label in zip(names, *columns, strict=True)
    ]
    apart = [name for name in several(data.without) if name]
    dev = [row.text for name in given for row in read_texts(folder / name)]
    hidden = {key_of(row.text) for name in apart for row in read_texts(folder / name)}
    train = [row.text for part in parts for row in part]
    if data.join:
        if not given:
            place = round(len(train) * (1 - data.hold_out))
            train, dev = train[:place], train[place:]
    else:
        dev = dev or [text for part in parts for text in held_out_of(part, data.hold_out)]
        hidden |= {key_of(text) for text in dev}
    train = [text for text in train if key_of(text) not in hidden] if hidden else train
    files = [folder / name for name in (*names, *given, *apart)]
    if not train or not dev:
        raise ValueError(f"{', '.join(map(str, files))}: there is too little text to learn from and to hold some out")
    return Gathered(train, dev, files)


def held_out_of(rows: Sequence[PlainText], share: float) -> list[str]:
    """Some texts of each class: the same ones that a classifier of this file is judged by."""
    held = hold_out_by_class([key_of(row.text) for row in rows], [row.label for row in rows], share=share)
    return [row.text for row, out in zip(rows, held, strict=True) if out]


def key_of(text: str) -> str:
    """Two texts with the same key are the same text."""
    return " ".join(text.casefold().split())


def _for_each(named: str | tuple[str, ...], count: int) -> tuple[str, ...]:
    found = several(named)
    return found * count if len(found) == 1 else found
