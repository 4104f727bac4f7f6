"""What a model that answers learns from: files in the layout of SQuAD, read and split as [data] says."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from clearformer.data.class_split import hold_out_by_class
from clearformer.data.readers.squad import AskedQuestion, read_questions, read_unanswered
from clearformer.tasks.data_files import DataFiles, file_names, several
from clearformer.text.train_tokenizer import TokenizerConfig


@dataclass(frozen=True, kw_only=True)
class QuestionData(DataFiles):
    """Files in the layout of SQuAD: questions about texts, whose answers are passages of the text."""

    train: str | tuple[str, ...] = file_names("one or more files in the layout of SQuAD")  # files to learn from
    dev: str = file_names()  # a file to choose the best checkpoint by; empty: some of train
    test: str = file_names()  # a file for the end
    unlabelled: str = file_names()  # questions in the same layout without answers, which a teacher gives in `distill`
    lessons: str = file_names()  # what `distill` wrote: questions with a teacher's answers, in place of train's
    hold_out: float = 0.1  # share of the texts, where there is no dev
    vocabulary: TokenizerConfig = field(default_factory=lambda: TokenizerConfig(kind="wordpiece"))
    max_length: int = 256  # tokens of question and text together; a longer text is read in overlapping windows
    overlap: bool = False  # tell the model which tokens question and text share
    elsewhere: float = 0.1  # share of the questions that are also asked of another text, which has no answer to them


def split(data: QuestionData, folder: Path) -> tuple[list[AskedQuestion], list[AskedQuestion]]:
    """Questions for training and for development; all questions about a text are in the same part."""
    train = [asked for name in several(data.train) for asked in read_questions(folder / name)]
    if data.dev:
        dev = list(read_questions(folder / data.dev))
    else:
        held = hold_out_by_class([asked.context for asked in train], [""] * len(train), share=data.hold_out)
        dev = [asked for asked, out in zip(train, held, strict=True) if out]
        train = [asked for asked, out in zip(train, held, strict=True) if not out]
    for part, name in ((train, "train"), (dev, "dev")):
        if not part:
            raise ValueError(f"there are no questions for {name}; give questions about two texts at least")
    return train, dev


def ask_elsewhere(questions: Sequence[AskedQuestion], share: float) -> Iterator[AskedQuestion]:
    """Some of the questions, asked of a text that does not have their answer: the same ones each time."""
    contexts = list(dict.fromkeys(asked.context for asked in questions))
    draw = np.random.default_rng(1)
    for number in draw.permutation(len(questions))[: round(share * len(questions))]:
        asked, context = questions[number], contexts[draw.integers(len(contexts))]
        if context != asked.context and not any(answer.text in context for answer in asked.answers):
            yield asked._replace(context=context, answers=())


def unlabelled(data: QuestionData, folder: Path) -> Iterator[AskedQuestion]:
    """The questions that nobody has answered."""
    return read_unanswered(folder / data.unlabelled)
