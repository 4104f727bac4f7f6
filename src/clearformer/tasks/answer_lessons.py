"""What teachers answer to the questions that a student is to learn from, and to questions that nobody has answered.

A lesson has passages of the context, not tokens, so that teacher and student may have different vocabularies.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from clearformer.data.readers import soft_answers
from clearformer.data.readers.soft_answers import SoftSpan, TaughtQuestion
from clearformer.data.readers.squad import AskedQuestion
from clearformer.inference.answer_finder import Answer, Answerer
from clearformer.tasks.data_files import folder_of, several
from clearformer.tasks.question_data import QuestionData, ask_elsewhere, split, unlabelled
from clearformer.tasks.soft_lessons import facts_of, in_portions, open_teachers, write_lessons
from clearformer.tasks.task import LessonPlan, Teachers

PASSAGES = 10  # of a question are written: the most probable ones


def add_lessons(data: QuestionData, teachers: Teachers, plan: LessonPlan) -> QuestionData:
    """Let the teachers answer the training questions; returns the data with the file of what they say."""
    folder = folder_of(data, plan.base)
    train, _ = split(data, folder)
    teacher = open_teachers(teachers)
    if not isinstance(teacher, Answerer):
        raise ValueError("the teacher does not answer questions; take one that does")
    rows = [(asked, not plan.alone) for asked in (*train, *ask_elsewhere(train, data.elsewhere))]
    rows += [(asked, False) for asked in unlabelled(data, folder)] if data.unlabelled else []

    def records() -> Iterator[dict[str, Any]]:
        for portion in in_portions(rows, plan.on_progress):
            asked = [(one.question, one.context) for one, _ in portion]
            said = teacher.likeliest(asked, plan.options, most=PASSAGES)
            for (one, given), found in zip(portion, said, strict=True):
                yield soft_answers.question_record(taught(one, found, given=given))

    files = [folder / name for name in (*several(data.train), data.dev, data.unlabelled) if name]
    facts = facts_of(teachers, files, hold_out=data.hold_out, elsewhere=data.elsewhere, alone=plan.alone)
    written = write_lessons(plan.folder, facts, soft_answers.header(), records)
    return replace(data, lessons=str(written.resolve()))


def taught(asked: AskedQuestion, found: Sequence[Answer], *, given: bool) -> TaughtQuestion:
    """A lesson. What the teacher gives to other passages than those that are written is shared out among all that it
    said, "no answer" included.
    """
    total = math.fsum(one.probability for one in found)
    spans = [SoftSpan(one.start, one.end, one.probability / total) for one in found if one.text and total > 0]
    return TaughtQuestion(asked, given, tuple(spans))
