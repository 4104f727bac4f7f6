"""Lessons for a student that reads: a teacher's probabilities for the training texts, and for texts without labels
(Hinton et al., 2015). How sure a teacher is of each label tells more than the label does.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from clearformer.folder.description import find_model, open_folder
from clearformer.foundation import storage
from clearformer.foundation.progress import OnProgress
from clearformer.inference.engines import open_bundle
from clearformer.tasks.in_use import in_use
from clearformer.tasks.task import Teachers

AT_ONCE = 512  # texts that a teacher reads before they are written
LESSONS, FACTS = "lessons.jsonl", "teacher.json"
R = TypeVar("R")


def open_teachers(teachers: Teachers) -> Any:
    """The teachers as one reader, by the mean of their probabilities."""
    if teachers.also or teachers.back:
        option = "--also" if teachers.also else "--back"
        raise ValueError(f"{option} is for teachers that write; those that read decide together, by --with")
    return in_use(*(open_bundle(one) for one in teachers.together))


def check_labels(teacher: Sequence[str], wanted: Sequence[str]) -> None:
    """Refuse a teacher that knows other labels than the training data."""
    if missing := [label for label in wanted if label not in teacher]:
        raise ValueError(f"the teacher lacks the label {missing[0]!r} of the training data; take another")
    if more := [label for label in teacher if label not in wanted]:
        raise ValueError(f"the teacher knows the label {more[0]!r}, which the training data lacks; take another")


def facts_of(teachers: Teachers, files: Sequence[Path], **more: Any) -> dict[str, Any]:
    """What lessons depend on: lessons of other teachers, or about other data, are others."""
    prints = sorted(open_folder(find_model(one)).fingerprint for one in teachers.together)
    return {"teacher": "+".join(prints), "files": [storage.sha256(path) for path in files], **more}


def write_lessons(
    folder: Path,
    facts: Mapping[str, Any],
    first: Mapping[str, Any] | None,
    records: Callable[[], Iterator[Mapping[str, Any]]],
) -> Path:
    """The file of lessons in a folder: the one that is there, or written now, whole or not at all.

    facts: what the lessons depend on. first: the first line, where there is one that is no lesson. records: the
    others, asked for if they are needed.
    """
    path = folder / LESSONS
    if folder.exists():
        storage.verify(folder)
        if storage.read_json(folder / FACTS) != facts:
            raise ValueError(f"{folder} holds another teacher's lessons, or about other data; choose another --out")
        return path
    storage.sweep(folder.parent, folder.name)
    with storage.new_folder(folder) as aside:
        with (aside / LESSONS).open("w", encoding="utf-8", newline="\n") as file:
            if first is not None:
                file.write(_line(first))
            for record in records():
                file.write(_line(record))
        storage.write_json(aside / FACTS, facts)
    return path


def _line(record: Mapping[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"


def in_portions(rows: Sequence[R], on_progress: OnProgress) -> Iterator[list[R]]:
    """Some rows at a time; progress is told after each portion."""
    waiting, done = iter(rows), 0
    while portion := list(islice(waiting, AT_ONCE)):
        yield portion
        done += len(portion)
        on_progress(done, len(rows))
