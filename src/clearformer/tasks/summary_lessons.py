"""What teachers write for the texts that a summarizer is to learn from, and for texts without a summary (Shleifer and
Rush, 2020): a model's own summaries are more alike than people's, and easier to learn.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from clearformer.data.readers.texts import read_texts
from clearformer.inference.engines import open_bundle
from clearformer.inference.summarizer import Summarizer
from clearformer.tasks.data_files import folder_of, several
from clearformer.tasks.in_use import in_use
from clearformer.tasks.soft_lessons import facts_of, in_portions, write_lessons
from clearformer.tasks.summary_data import SummaryData, split
from clearformer.tasks.task import LessonPlan, Teachers


def add_lessons(data: SummaryData, teachers: Teachers, plan: LessonPlan) -> SummaryData:
    """Let the teachers summarise the training texts; returns the data with the files of what they wrote."""
    if teachers.back:
        raise ValueError("--back is for translators: nothing writes the long text of a summary; leave it out")
    folder = folder_of(data, plan.base)
    train, _ = split(data, folder)
    texts = list(dict.fromkeys(pair.text for pair in train))
    if data.unlabelled:
        texts += [one.text for one in read_texts(folder / data.unlabelled)]
    files = [folder / name for name in (*several(data.train), data.dev, data.unlabelled) if name]
    groups = {"teacher": teachers, **{f"also-{n}": Teachers(together=[one]) for n, one in enumerate(teachers.also, 1)}}
    written = [_write(plan, name, group, texts, files) for name, group in groups.items()]
    return replace(data, lessons=tuple(str(path.resolve()) for path in written), lessons_alone=plan.alone)


def _write(plan: LessonPlan, name: str, teachers: Teachers, texts: Sequence[str], files: Sequence[Path]) -> Path:
    """The file of one teacher's summaries, or of what several wrote together."""
    teacher = in_use(*(open_bundle(one) for one in teachers.together))
    if not isinstance(teacher, Summarizer):
        raise ValueError("the teacher does not summarise texts; take one that does")

    def records() -> Iterator[dict[str, Any]]:
        for portion in in_portions(texts, plan.on_progress):
            for text, found in zip(portion, teacher.summarize(portion, plan.options), strict=True):
                if found.text and found.text != text:  # one that is too short is given back as it is
                    yield {"text": text, "summary": found.text}

    return write_lessons(plan.folder / name, facts_of(teachers, files, options=vars(plan.options)), None, records)
