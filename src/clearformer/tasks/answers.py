"""Answers to questions: where in a text the answer stands, or that the text does not say. Judged by exact match and F1.

A context that is longer than the model reads is cut into overlapping windows. In one that lacks the answer the first
token is what both ends should point to, so that windows, and texts without an answer, can be told from the others.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn.functional import cross_entropy

from clearformer.data.collate import SpanBatch, collate_spans
from clearformer.data.file_facts import scan
from clearformer.data.pair_types import OVERLAP_TYPES
from clearformer.data.readers.soft_answers import TaughtQuestion, read_taught
from clearformer.data.readers.squad import AskedQuestion, GivenAnswer, read_questions
from clearformer.data.shards import Column, ShardWriter, shards_for, token_type_for
from clearformer.data.token_pairs import TokenIds
from clearformer.evaluation.exact_match import score_answers
from clearformer.folder.description import ModelFolder
from clearformer.folder.preprocessing import Preprocessing
from clearformer.inference.answer_finder import Answerer
from clearformer.inference.answer_windows import AskedWindows, ContextWindow, cut_windows
from clearformer.inference.reader_ensembles import answerer_of
from clearformer.model.weights import token_types
from clearformer.tasks.answer_lessons import add_lessons
from clearformer.tasks.answer_report import HeldQuestions, report, settle
from clearformer.tasks.automatic import question_files
from clearformer.tasks.data_files import folder_of, several
from clearformer.tasks.learned_vocabulary import vocabularies
from clearformer.tasks.question_data import QuestionData, ask_elsewhere, split
from clearformer.tasks.task import Judging, Prepared, Scores, Seed, Task, Training, Workspace
from clearformer.tasks.verbs import VERBS
from clearformer.text.tokenizer import Tokenizer
from clearformer.training.loss import Loss, learned_from

log = logging.getLogger(__name__)
# Ids, types, the answer's first and last token; of a lesson, how probable each token is as either, and who answered.
Example = tuple[Any, ...]
AT_ONCE = 1000  # questions that are cut into windows before these are written


@dataclass(frozen=True, kw_only=True)
class SpanObjective:
    """Cross-entropy of the answer's first and last token."""

    no_answer: float = 1.0  # how much a window without the answer counts, where one with it counts 1
    teacher_weight: float = 0.5  # lessons: a teacher's share in the loss of a question that people answered, too

    def __post_init__(self) -> None:
        if not 0 <= self.teacher_weight <= 1:
            raise ValueError(f"objective.teacher_weight is a share between 0 and 1, not {self.teacher_weight}")


def prepare(data: QuestionData, workspace: Workspace) -> Prepared[Example]:
    """Read the questions, hold some texts out, learn a vocabulary, and keep the windows."""
    folder = folder_of(data, workspace.base)
    files = [folder / name for name in (*several(data.train), data.dev, data.lessons) if name]
    asked, dev = split(data, folder)
    lessons = list(read_taught(folder / data.lessons)) if data.lessons else []
    train = [one.asked for one in lessons] or asked
    if data.unlabelled and not lessons:
        log.info("data.unlabelled is left aside: only a teacher can answer it, by `clearformer distill`")
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
    columns |= {"soft": "<f4", "given": "|u1"} if lessons else {}

    def fill(writer: ShardWriter) -> dict[str, Any]:
        taught: Sequence[AskedQuestion | TaughtQuestion]
        taught = lessons or [*train, *ask_elsewhere(train, data.elsewhere)]
        kept = 0
        for begin in range(0, len(taught), AT_ONCE):
            rows = list(encode(tokenizer, taught[begin : begin + AT_ONCE], data))
            writer.add(**{name: _column(part) for name, part in zip(columns, zip(*rows, strict=True), strict=True)})
            kept += len(rows)
        return {"kept": kept}

    made = workspace.folder / "shards"
    shards = shards_for(made, columns=columns, made_from=made_from, fill=fill, same=workspace.resume)
    return Prepared(
        train=shards,
        lengths=[shards.lengths("tokens")],
        dev=list(encode(tokenizer, dev, data)),
        held=HeldQuestions(questions=dev, places=[f"question {asked.id}" for asked in dev]),
        preprocessing=Preprocessing(tokenizer=tokenizer, types="overlap" if data.overlap else "texts"),
    )


def encode(
    tokenizer: Tokenizer, questions: Sequence[AskedQuestion | TaughtQuestion], data: QuestionData
) -> Iterator[Example]:
    """The windows of each question, with the answer's first and last token, or 0 and 0 where it is not inside."""
    for one in questions:
        taught = one if isinstance(one, TaughtQuestion) else None
        asked = one.asked if isinstance(one, TaughtQuestion) else one
        try:
            cut = cut_windows(tokenizer, asked.question, asked.context, data.max_length, overlap=data.overlap)
        except ValueError as error:
            hint = f"or raise data.max_length (now {data.max_length})"
            raise ValueError(f"question {asked.id}: {error}, {hint}") from None
        answer = asked.usual() if taught is None or taught.given else _likeliest(taught)
        span = None if answer is None else (answer.start, answer.start + len(answer.text))
        for window in cut.windows:
            row = (np.array(window.ids), np.array(window.types), np.array(_ends(cut, window, span)))
            yield row if taught is None else (*row, _soft(cut, window, taught), np.array([taught.given]))


def _ends(cut: AskedWindows, window: ContextWindow, span: tuple[int, int] | None) -> tuple[int, int]:
    """The first and the last token of a passage in a window; 0 and 0 where it is not inside."""
    pieces = None if span is None else cut.pieces(*span)
    if pieces is None:
        return (0, 0)
    first, last = (place - window.begin for place in pieces)
    return (window.lead + first, window.lead + last) if first >= 0 and last < window.width else (0, 0)


def _soft(cut: AskedWindows, window: ContextWindow, taught: TaughtQuestion) -> NDArray[np.float32]:
    """How probable a teacher finds each token of a window as the first, and as the last, of the answer: T 2 as a row.
    Passages that are not inside, and "no answer", are the first token's.
    """
    shares = np.zeros((len(window.ids), 2))
    for span in taught.soft:
        for end, place in enumerate(_ends(cut, window, (span.start, span.end))):
            shares[place, end] += span.probability
    shares[0] += np.maximum(0.0, 1 - shares.sum(axis=0))
    return shares.astype(np.float32).reshape(-1)


def _likeliest(taught: TaughtQuestion) -> GivenAnswer | None:
    """What the teacher would answer."""
    best = max(taught.soft, key=lambda one: one.probability, default=None)
    if best is None or best.probability < 1 - sum(one.probability for one in taught.soft):
        return None
    return GivenAnswer(taught.asked.context[best.start : best.end], best.start)


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
    """The mean of both ends' cross-entropies, by people and by a teacher if there is one; how often both were right."""
    extra = {"types": batch.types} if token_types(model) > 1 else {}
    logits = model(batch.ids, keep=batch.keep, **extra).float()  # B T 2
    goals = torch.stack([batch.starts, batch.ends], dim=1)
    each = cross_entropy(logits, goals, reduction="none").mean(dim=1)
    if batch.soft is not None and batch.given is not None:
        from_teacher = cross_entropy(logits, batch.soft, reduction="none").mean(dim=1)
        each = learned_from(each, from_teacher, batch.given, objective.teacher_weight)
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
        lessons=add_lessons,
        settle=settle,
        report=report,
    ),
    automatic=question_files.AUTOMATIC,
)
