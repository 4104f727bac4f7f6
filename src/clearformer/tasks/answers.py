"""Answers to questions: where in a text the answer stands, or that the text does not say. Judged by exact match and F1.

A context that is longer than the model reads is cut into overlapping windows. In one that lacks the answer the first
token is what both ends should point to, so that windows, and texts without an answer, can be told from the others.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from clearformer.data.class_split import hold_out_by_class
from clearformer.data.collate import SpanBatch, collate_spans
from clearformer.data.file_facts import scan
from clearformer.data.pair_types import OVERLAP_TYPES
from clearformer.data.readers.squad import AskedQuestion, read_questions
from clearformer.data.shards import Column, ShardWriter, shards_for, token_type_for
from clearformer.data.token_pairs import TokenIds
from clearformer.evaluation.exact_match import score_answers
from clearformer.folder.description import ModelFolder
from clearformer.folder.preprocessing import Preprocessing
from clearformer.inference.answer_finder import Answerer
from clearformer.inference.answer_windows import cut_windows
from clearformer.inference.reader_ensembles import answerer_of
from clearformer.model.weights import token_types
from clearformer.tasks.answer_report import HeldQuestions, report, settle
from clearformer.tasks.automatic import question_files
from clearformer.tasks.data_files import DataFiles, file_names, folder_of, several
from clearformer.tasks.learned_vocabulary import vocabularies
from clearformer.tasks.task import Judging, Prepared, Scores, Seed, Task, Training, Workspace
from clearformer.tasks.verbs import VERBS
from clearformer.text.tokenizer import Tokenizer
from clearformer.text.train_tokenizer import TokenizerConfig
from clearformer.training.loss import Loss

log = logging.getLogger(__name__)
Example = tuple[TokenIds, TokenIds, TokenIds]  # ids, types, the answer's first and last token
AT_ONCE = 1000  # questions that are cut into windows before these are written


@dataclass(frozen=True, kw_only=True)
class QuestionData(DataFiles):
    """Files in the layout of SQuAD: questions about texts, whose answers are passages of the text."""

    train: str | tuple[str, ...] = file_names("one or more files in the layout of SQuAD")  # files to learn from
    dev: str = file_names()  # a file to choose the best checkpoint by; empty: some of train
    test: str = file_names()  # a file for the end
    hold_out: float = 0.1  # share of the texts, where there is no dev
    vocabulary: TokenizerConfig = field(default_factory=lambda: TokenizerConfig(kind="wordpiece"))
    max_length: int = 256  # tokens of question and text together; a longer text is read in overlapping windows
    overlap: bool = False  # tell the model which tokens question and text share
    elsewhere: float = 0.1  # share of the questions that are also asked of another text, which has no answer to them


@dataclass(frozen=True, kw_only=True)
class SpanObjective:
    """Cross-entropy of the answer's first and last token."""

    no_answer: float = 1.0  # how much a window without the answer counts, where one with it counts 1


def prepare(data: QuestionData, workspace: Workspace) -> Prepared[Example]:
    """Read the questions, hold some texts out, learn a vocabulary, and keep the windows."""
    folder = folder_of(data, workspace.base)
    files = [folder / name for name in (*several(data.train), *((data.dev,) if data.dev else ()))]
    train, dev = split(data, folder)
    log.info("%s questions to learn from, %s for development", f"{len(train):,}", f"{len(dev):,}")
    start = None if workspace.start is None else workspace.start.preprocessing
    texts = [*dict.fromkeys(asked.context for asked in train), *(asked.question for asked in train)]
    [tokenizer] = vocabularies(data.vocabulary, {"joint": texts}, workspace, () if start is None else start.sides[:1])
    made_from = {
        "files": [vars(scan(path)) for path in files],
        "tokenizer": tokenizer.fingerprint(),
        "hold_out": data.hold_out,
        "max_length": data.max_length,
        "elsewhere": data.elsewhere,
        **({"overlap": True} if data.overlap else {}),
    }
    columns = {"tokens": token_type_for(tokenizer.vocab_size), "types": "|u1", "span": "<u4"}

    def fill(writer: ShardWriter) -> dict[str, Any]:
        asked = [*train, *ask_elsewhere(train, data.elsewhere)]
        kept = 0
        for begin in range(0, len(asked), AT_ONCE):
            rows = list(encode(tokenizer, asked[begin : begin + AT_ONCE], data))
            writer.add(**{name: _column(part) for name, part in zip(columns, zip(*rows, strict=True), strict=True)})
            kept += len(rows)
        return {"kept": kept}

    made = workspace.folder / "shards"
    shards = shards_for(made, columns=columns, made_from=made_from, fill=fill, same=workspace.resume)
    return Prepared(
        train=shards,  # type: ignore[arg-type]  # three columns
        lengths=[shards.lengths("tokens")],
        dev=list(encode(tokenizer, dev, data)),
        held=HeldQuestions(questions=dev, places=[f"question {asked.id}" for asked in dev]),
        preprocessing=Preprocessing(tokenizer=tokenizer, types="overlap" if data.overlap else "texts"),
    )


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


def encode(tokenizer: Tokenizer, questions: Sequence[AskedQuestion], data: QuestionData) -> Iterator[Example]:
    """The windows of each question, with the answer's first and last token, or 0 and 0 where it is not inside."""
    for asked in questions:
        try:
            cut = cut_windows(tokenizer, asked.question, asked.context, data.max_length, overlap=data.overlap)
        except ValueError as error:
            hint = f"or raise data.max_length (now {data.max_length})"
            raise ValueError(f"question {asked.id}: {error}, {hint}") from None
        answer = asked.usual()
        span = None if answer is None else cut.pieces(answer.start, answer.start + len(answer.text))
        for window in cut.windows:
            first, last = (0, 0) if span is None else (place - window.begin for place in span)
            inside = span is not None and first >= 0 and last < window.width
            ends = [window.lead + first, window.lead + last] if inside else [0, 0]
            yield np.array(window.ids), np.array(window.types), np.array(ends)


def _column(rows: Sequence[TokenIds]) -> Column:
    return Column(np.concatenate(rows), np.array([len(row) for row in rows]))


def sizes(preprocessing: Preprocessing) -> dict[str, Any]:
    """What the vocabulary decides of the model."""
    told = {"embedding": {"types": OVERLAP_TYPES}} if preprocessing.types == "overlap" else {}
    return {"vocab_size": preprocessing.sides[0].vocab_size, "head": {"kind": "span"}, **told}


def collate(data: QuestionData, preprocessing: Preprocessing) -> Callable[[Sequence[Example], Seed], SpanBatch]:
    """Windows as a batch; nothing is drawn."""
    pad = preprocessing.sides[0].special_ids.get("pad", 0)
    return lambda rows, seed: collate_spans(rows, pad=pad)


def loss(model: nn.Module, batch: SpanBatch, objective: SpanObjective) -> Loss:
    """The mean of both ends' cross-entropies, and how often both were right."""
    extra = {"types": batch.types} if token_types(model) > 1 else {}
    logits = model(batch.ids, keep=batch.keep, **extra).float()  # B T 2
    goals = torch.stack([batch.starts, batch.ends], dim=1)
    each = cross_entropy(logits, goals, reduction="none").mean(dim=1)
    if objective.no_answer != 1:
        each = each * (batch.ends == 0).float().mul(objective.no_answer - 1).add(1)
    right = (logits.detach().argmax(dim=1) == goals).all(dim=1).sum()
    return Loss(each.sum(), len(batch), {"accuracy": right})


def score(answerer: Answerer, held: HeldQuestions, judging: Judging) -> Scores:
    """Exact match and F1, with intervals if asked thoroughly. Where every question has an answer, one is given."""
    questions = held.questions if judging.thorough else held.questions[: judging.scoring.examples]
    options = replace(judging.options, no_answer=judging.options.no_answer and not held.all_answered)
    mine = judging.ranks.share_out([(asked.question, asked.context) for asked in questions])
    found = judging.ranks.collect([one.text for one in answerer.answer_all(mine, options)])
    scores = score_answers(found, [[answer.text for answer in asked.answers] for asked in questions])
    return scores if judging.thorough else {name: scores[name] for name in ("exact", "f1")}


def held_out(files: Sequence[Path], folder: ModelFolder) -> HeldQuestions:
    """A test set: files in the layout of SQuAD."""
    read = [(asked, f"{path}, question {asked.id}") for path in files for asked in read_questions(path)]
    return HeldQuestions(questions=[asked for asked, _ in read], places=[place for _, place in read])


def facts(recipe: Any) -> dict[str, Any]:
    """What a folder remembers of its recipe. no_answer: the first token stands for it."""
    return {
        "data": recipe.data.corpus or ", ".join(Path(name).name for name in several(recipe.data.train)),
        "max_length": recipe.data.max_length,
        "no_answer": True,
    }


TASK = Task(
    name="question-answering",
    verb=VERBS["answer"],
    use=Answerer,
    together=answerer_of,
    training=Training(
        data=QuestionData,
        objective=SpanObjective,
        unit="windows",
        prepare=prepare,
        sizes=sizes,
        collate=collate,
        loss=loss,
        score=score,
        held_out=held_out,
        test_files=lambda data: (data.test,),
        best="f1",
        facts=facts,
        settle=settle,
        report=report,
    ),
    automatic=question_files.AUTOMATIC,
)
