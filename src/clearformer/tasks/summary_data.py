"""What a summarizer learns from: tables of texts and summaries, read and split as [data] says."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from clearformer.data.class_split import hold_out_by_class
from clearformer.data.readers.summary_pairs import (
    SummaryColumns,
    SummaryPair,
    find_summary_columns,
    read_summaries,
)
from clearformer.tasks.data_files import DataFiles, file_names, several
from clearformer.text.train_tokenizer import TokenizerConfig

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class SummaryData(DataFiles):
    """Tables (CSV, TSV, JSON lines) with a text and its summary in each row."""

    train: str | tuple[str, ...] = file_names("one or more tables of texts and summaries")  # tables to learn from
    dev: str = file_names()  # a table to choose the best checkpoint by; empty: some of train
    test: str = file_names()  # a table for the end
    unlabelled: str = file_names()  # texts without summaries, which a teacher summarises in `distill`
    lessons: str | tuple[str, ...] = file_names()  # what `distill` wrote: texts with a teacher's summaries, learned too
    lessons_alone: bool = False  # learn from the lessons alone, without the summaries of train
    hold_out: float = 0.1  # share of the texts, where there is no dev
    text: str = ""  # the column of the texts; empty: it is found
    summary: str = ""  # the column of their summaries; empty: it is found
    others: str = ""  # a column with a list of what other people wrote instead, for `evaluate`
    vocabulary: TokenizerConfig = field(default_factory=TokenizerConfig)
    max_length: int = 256  # tokens of a text that are read; of a longer one its beginning is learned from, and counted
    max_summary: int = 64  # texts whose summary has more tokens are left out, and counted
    split_pieces: float = 0.0  # BPE-dropout: chance that a piece is read as the two it was merged from

    def __post_init__(self) -> None:
        if not 0 < self.hold_out < 1:
            raise ValueError(f"data.hold_out is a share of the texts, above 0 and below 1, not {self.hold_out}")
        if not 0 <= self.split_pieces < 1:
            raise ValueError(f"data.split_pieces is a chance, at least 0 and less than 1, not {self.split_pieces}")
        for name in ("max_length", "max_summary"):
            if getattr(self, name) < 8:
                raise ValueError(f"data.{name} must be at least 8 tokens, not {getattr(self, name)}")


def split(data: SummaryData, folder: Path) -> tuple[list[SummaryPair], list[SummaryPair]]:
    """Pairs for training and for development; the same text is never in both. Blank ones are left out, and counted."""
    train = [pair for name in several(data.train) for pair in read(folder / name, data)]
    if data.dev:
        dev = list(read(folder / data.dev, data))
    else:
        held = hold_out_by_class([pair.text for pair in train], [""] * len(train), share=data.hold_out)
        dev = [pair for pair, out in zip(train, held, strict=True) if out]
        train = [pair for pair, out in zip(train, held, strict=True) if not out]
    for part, name in ((train, "train"), (dev, "dev")):
        if not part:
            raise ValueError(f"there are no texts with summaries for {name}; give two at least")
    return train, dev


def read(path: Path, data: SummaryData) -> Iterator[SummaryPair]:
    """The rows of a table that have a text and a summary."""
    columns = columns_of(path, text=data.text, summary=data.summary, others=data.others)
    rows = list(read_summaries(path, columns))
    kept = [pair for pair in rows if pair.text and pair.summary]
    if len(kept) < len(rows):
        log.info("%s: %d rows without a text or a summary are left out", path.name, len(rows) - len(kept))
    return iter(kept)


def columns_of(path: Path, *, text: str = "", summary: str = "", others: str = "") -> SummaryColumns:
    """The columns of a table; one that has none is refused."""
    found = find_summary_columns(path, text=text or None, summary=summary or None, others=others or None)
    if found is None:
        raise ValueError(f"{path} has no columns of texts and shorter summaries; name them: data.text, data.summary")
    return found


def taught(data: SummaryData, folder: Path, train: list[SummaryPair]) -> list[SummaryPair]:
    """What is learned from: people's summaries, a teacher's, or both."""
    columns = SummaryColumns(text="text", summary="summary")
    lessons = [pair for name in several(data.lessons) if name for pair in read_summaries(folder / name, columns)]
    return lessons if lessons and data.lessons_alone else [*train, *lessons]
