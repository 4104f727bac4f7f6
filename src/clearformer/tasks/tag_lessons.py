"""What teachers say of the words that a tagger is to learn from, and of text that nobody has tagged."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from clearformer.data.readers import soft_labels
from clearformer.inference.word_tagger import Tagger
from clearformer.tasks.data_files import folder_of, several
from clearformer.tasks.soft_lessons import check_labels, facts_of, in_portions, open_teachers, write_lessons
from clearformer.tasks.tagged_data import TaggedData, labels_in, split, unlabelled
from clearformer.tasks.task import LessonPlan, Teachers

Words = tuple[Sequence[str], Sequence[str] | None]  # and their tags, where people gave some


def add_lessons(data: TaggedData, teachers: Teachers, plan: LessonPlan) -> TaggedData:
    """Let the teachers tag the training text; returns the data with the file of what they say."""
    folder = folder_of(data, plan.base)
    train, _ = split(data, folder)
    labels, teacher = labels_in(train), open_teachers(teachers)
    if not isinstance(teacher, Tagger):
        raise ValueError("the teacher does not tag words; take one that does")
    check_labels(teacher.labels, labels)
    order = [teacher.labels.index(label) for label in labels]
    rows: list[Words] = [(one.words, None if plan.alone else one.tags) for one in train]
    rows += [(words, None) for words in unlabelled(data, folder) if words] if data.unlabelled else []

    def records() -> Iterator[dict[str, Any]]:
        for portion in in_portions(rows, plan.on_progress):
            said = teacher.read_words([words for words, _ in portion], plan.options)
            for (words, tags), scores in zip(portion, said, strict=True):
                yield soft_labels.sentence_record(words, tags, np.exp(scores[:, order]))

    files = [folder / name for name in (*several(data.train), data.dev, data.unlabelled) if name]
    facts = facts_of(teachers, files, words=data.words, hold_out=data.hold_out, alone=plan.alone)
    written = write_lessons(plan.folder, facts, soft_labels.header("tags", labels), records)
    return replace(data, lessons=str(written.resolve()))
