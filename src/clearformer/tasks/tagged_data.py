"""What a tagger learns from: CoNLL files, read and split as [data] says."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from clearformer.data.class_split import hold_out_by_class
from clearformer.data.entity_tags import bio_labels
from clearformer.data.readers.conll import Illegal, TaggedSentence, looks_like_conll, read_conll
from clearformer.data.readers.texts import read_texts
from clearformer.tasks.data_files import DataFiles, file_names, several
from clearformer.text.train_tokenizer import TokenizerConfig
from clearformer.text.word_spans import word_spans

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class TaggedData(DataFiles):
    """CoNLL files: a word and its tag on each line, a blank line between sentences."""

    train: str | tuple[str, ...] = file_names("a CoNLL file of words with tags")  # to learn from; one file or a list
    dev: str = file_names()  # a file to choose the best checkpoint by; empty: some of train
    test: str = file_names()  # a file for the end
    unlabelled: str = file_names()  # texts without tags, one per line, which a teacher tags in `distill`
    lessons: str = file_names()  # what `distill` wrote: words with a teacher's probabilities, in place of train's words
    illegal: Illegal = "refuse"  # an I-X that follows no X: refuse the file, or repair the tag and say how often
    words: Literal["spaced", "characters"] = "spaced"  # what a word is where the model reads running text
    shapes: bool = False  # tell the model what a word looks like: capitals, digits, signs
    hold_out: float = 0.1  # share of the sentences, where there is no dev
    vocabulary: TokenizerConfig = field(default_factory=lambda: TokenizerConfig(kind="wordpiece"))
    max_length: int = 128  # tokens; a longer sentence is learned from in parts
    word_dropout: float = 0.0  # chance that a word is hidden in training, so that its neighbours have to tell

    def __post_init__(self) -> None:
        if self.max_length < 8:
            raise ValueError(f"data.max_length is {self.max_length}; a sentence needs at least 8 tokens")


def split(data: TaggedData, folder: Path) -> tuple[list[TaggedSentence], list[TaggedSentence]]:
    """The sentences for training and for development, which are some of the former where [data] names no others."""
    paths = [folder / name for name in several(data.train)]
    train = [one for path in paths for one in read_sentences(path, data.illegal)]
    if data.dev:
        return train, read_sentences(folder / data.dev, data.illegal)
    named = ["with" if set(one.tags) != {"O"} else "without" for one in train]
    held = hold_out_by_class([one.words for one in train], named, share=data.hold_out)
    dev = [one for one, out in zip(train, held, strict=True) if out]
    return [one for one, out in zip(train, held, strict=True) if not out], dev


def labels_in(train: list[TaggedSentence]) -> tuple[str, ...]:
    """Every tag that the entities of some sentences need."""
    return bio_labels([tag[2:] for one in train for tag in one.tags if tag != "O"])


def unlabelled(data: TaggedData, folder: Path) -> Iterator[tuple[str, ...]]:
    """The words of each text that nobody has tagged: of a CoNLL file's first column, or split as in use."""
    path = folder / data.unlabelled
    if looks_like_conll(path):
        yield from (one.words for one in read_conll(path, illegal="repair"))
        return
    for one in read_texts(path):
        yield tuple(one.text[start:end] for start, end in word_spans(one.text, characters=data.words == "characters"))


def read_sentences(path: Path, illegal: Illegal) -> list[TaggedSentence]:
    """Every sentence of a file; how many of its lines were mended is said."""
    read = list(read_conll(path, illegal=illegal))
    if not read:
        raise ValueError(f"{path} has no sentences: write a word, a tab and a tag on each line")
    if lines := [line for one in read for line in one.repaired]:
        log.warning("%s: %d lines were repaired, the first is line %d", path, len(lines), lines[0])
    return read
