"""From questions in the layout of SQuAD to a model that answers: every choice of a run, each with its reason."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clearformer.data.class_split import hold_out_by_class
from clearformer.data.readers.squad import AskedQuestion, QuestionFileError, looks_like_questions, read_questions
from clearformer.evaluation.exact_match import is_unspaced
from clearformer.tasks.automatic.encoder_recipe import EncoderPlan, EncoderSize, encoder_recipe
from clearformer.tasks.automatic.fine_tuning import published_start
from clearformer.tasks.automatic.question_doctor import QuestionReport, examine_questions
from clearformer.tasks.task import Automatic, Choice, Chosen

HELD_OUT = 0.1  # of the texts, for development and for the test
BATCH = 4096  # tokens
MANY = 1000  # questions; of more, no larger share is needed to choose and to test


_SIZES = (
    EncoderSize(up_to=5_000, vocab_size=4_000, layers=2, dim=96, dropout=0.1, peak=1e-3),
    EncoderSize(up_to=50_000, vocab_size=8_000, layers=4, dim=128, dropout=0.1, peak=1e-3),
    EncoderSize(up_to=math.inf, vocab_size=16_000, layers=4, dim=192, dropout=0.1, peak=1e-3),
)


def recognise(files: Sequence[Path]) -> str | None:
    """Files in the layout of SQuAD."""
    if not files or not all(map(looks_like_questions, files)):
        return None
    return "questions about texts, whose answers are passages of the text"


def examine(files: Sequence[Path]) -> QuestionReport:
    """What is wrong with questions about texts."""
    return examine_questions(files)[1]


def choose(files: Sequence[Path], out: Path) -> Chosen:
    """A recipe; about a tenth of the texts is held out for development, and a tenth for the test."""
    questions, report = examine_questions(files)
    if report.fatal:
        worst = next(finding for finding in report.findings if finding.fatal)
        raise QuestionFileError(f"{worst.place}: {worst.detail}")
    parts = _split(questions)
    for name, part in parts.items():
        write_questions(part, out / "data" / f"{name}.json")
    recipe, choices = from_questions(parts["train"], name=run_name(files))
    held = Choice(
        what="held out",
        value=f"{len(parts['dev']):,} questions for development, {len(parts['test']):,} for the test",
        reason="no text is in two parts",
    )
    start = published_start(asked.context for asked in parts["train"])
    return Chosen(recipe=recipe, choices=[held, *choices], report=report.to_text(), start=start)


def _split(questions: Sequence[AskedQuestion]) -> dict[str, list[AskedQuestion]]:
    share = min(HELD_OUT, MANY / len(questions))
    held = hold_out_by_class([asked.context for asked in questions], [""] * len(questions), share=2 * share)
    out = [asked for asked, aside in zip(questions, held, strict=True) if aside]
    if len({asked.context for asked in out}) < 2:  # of a handful of texts, one for each part
        texts = list(dict.fromkeys(asked.context for asked in questions))[-2:]
        held = [asked.context in texts for asked in questions]
        out = [asked for asked in questions if asked.context in texts]
    dev = hold_out_by_class([asked.context for asked in out], [""] * len(out), share=0.5)
    return {
        "train": [asked for asked, aside in zip(questions, held, strict=True) if not aside],
        "dev": [asked for asked, first in zip(out, dev, strict=True) if first],
        "test": [asked for asked, first in zip(out, dev, strict=True) if not first],
    }


def write_questions(questions: Sequence[AskedQuestion], path: Path) -> None:
    """A file in the layout of SQuAD, version 2."""
    by_context: dict[str, list[dict[str, Any]]] = {}
    for asked in questions:
        answers = [{"text": answer.text, "answer_start": answer.start} for answer in asked.answers]
        entry = {"id": asked.id, "question": asked.question, "answers": answers, "is_impossible": not answers}
        by_context.setdefault(asked.context, []).append(entry)
    paragraphs = [{"context": context, "qas": entries} for context, entries in by_context.items()]
    content = {"version": "v2.0", "data": [{"title": path.stem, "paragraphs": paragraphs}]}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8", newline="\n")


def from_questions(questions: Sequence[AskedQuestion], *, name: str) -> tuple[dict[str, Any], list[Choice]]:
    """A recipe for these training questions, and a reason for each choice."""
    size = next(size for size in _SIZES if len(questions) <= size.up_to)
    contexts = list(dict.fromkeys(asked.context for asked in questions))
    unspaced = is_unspaced(contexts[:500])
    per_token = 1.0 if unspaced else 3.5  # characters
    characters = sorted(len(asked.context) + len(asked.question) for asked in questions)
    usual = characters[int(0.9 * (len(characters) - 1))]
    length = min(384, max(64, 32 * math.ceil(usual / per_token / 32)))
    tokens = sum(characters) / per_token
    passes = min(30.0, max(3.0, 12 * math.sqrt(20_000 / len(questions))))
    return encoder_recipe(
        EncoderPlan(
            task="question-answering",
            name=name,
            size=size,
            data={"train": "data/train.json", "dev": "data/dev.json", "test": "data/test.json"},
            head={"kind": "span"},
            model={"hidden_dim": 4 * size.dim},
            unspaced=unspaced,
            vocabulary={"normalise": ["lowercase"]},
            length=length,
            steps=max(300, math.ceil(tokens * passes / BATCH / 100) * 100),
            batch=BATCH,
            passes=passes,
            what="texts",
            why={
                "vocabulary": f"{len(contexts):,} texts show each piece often enough",
                "length": "most texts fit beside their question; longer ones are read in overlapping windows",
                "model": "as large as an ordinary computer can train; a pretrained encoder (--start) is far better",
            },
        )
    )


def run_name(files: Sequence[Path]) -> str:
    """faq.json makes faq."""
    return files[0].name.partition(".")[0] or "questions"


def example(run: Path) -> tuple[str, str]:
    """The question of the test part with the shortest text."""
    asked = min(read_questions(run / "data" / "test.json"), key=lambda asked: len(asked.context))
    return asked.question, asked.context


AUTOMATIC = Automatic(recognise=recognise, choose=choose, examine=examine, name=run_name, example=example)
