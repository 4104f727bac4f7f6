"""What teachers say of the texts that a classifier is to learn from, and of texts that nobody has labelled."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from clearformer.data.readers import soft_labels
from clearformer.data.readers.labelled import LabelledText
from clearformer.inference.text_readers import Classifier
from clearformer.inference.text_windows import TextOrPair
from clearformer.tasks.data_files import folder_of
from clearformer.tasks.label_goals import Goals
from clearformer.tasks.labelled_data import LabelledData, as_given, class_names, split, unlabelled
from clearformer.tasks.soft_lessons import check_labels, facts_of, in_portions, open_teachers, write_lessons
from clearformer.tasks.task import LessonPlan, Teachers
from clearformer.text.unusable import UnusableTextError


def add_lessons(data: LabelledData, teachers: Teachers, plan: LessonPlan) -> LabelledData:
    """Let the teachers judge the training texts; returns the data with the file of what they say."""
    folder = folder_of(data, plan.base)
    train, _ = split(data, folder)
    goals = Goals.of(train, data.kind, class_names(data, folder))
    teacher = open_teachers(teachers)
    _refuse_another_kind(teacher, goals)
    known = [row._replace(label="") if plan.alone else row for row in train]
    more = [_unknown(one, data.unlabelled) for one in unlabelled(data, folder)] if data.unlabelled else []

    def records() -> Iterator[dict[str, Any]]:
        for rows in in_portions([*known, *more], plan.on_progress):
            try:
                said = teacher.results([as_given(row) for row in rows], plan.options)
            except UnusableTextError as error:
                raise ValueError(f"{rows[error.number - 1].place} {error.reason}") from error
            for row, soft in zip(rows, said, strict=True):
                yield soft_labels.text_record(row.text, row.second, row.label or None, _ordered(teacher, goals, soft))

    files = [folder / name for name in (data.train, data.dev, data.unlabelled, data.names) if name]
    facts = facts_of(teachers, files, labels=list(goals.labels), hold_out=data.hold_out, alone=plan.alone)
    written = write_lessons(plan.folder, facts, soft_labels.header(data.kind, goals.labels), records)
    return replace(data, lessons=str(written.resolve()))


def _refuse_another_kind(teacher: Any, goals: Goals) -> None:
    if not isinstance(teacher, Classifier) or teacher.outcome.kind != goals.outcome.kind:
        raise ValueError(f"the teacher does not give what data.kind = {goals.outcome.kind!r} says; take another")
    if goals.labels:
        check_labels(teacher.labels, goals.labels)


def _unknown(given: TextOrPair, file: str) -> LabelledText:
    text, second = (given, None) if isinstance(given, str) else given
    return LabelledText(text, second, "", 0, f"{file}: {text[:40]!r}")


def _ordered(teacher: Classifier, goals: Goals, soft: list[float]) -> list[float]:
    """The probabilities in the order of the data's labels; a number as it is."""
    return [soft[teacher.labels.index(label)] for label in goals.labels] or soft
