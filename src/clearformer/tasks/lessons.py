"""Lessons for a student of translation: what teachers write for the training text (Kim and Rush, 2016).

People translate one sentence in many ways; a teacher translates it in its one way, which is easier to learn. The
teacher translates the training sources once, in blocks that survive an interruption. Several teachers, and models of
the other direction, say each sentence in several ways: a small corpus becomes a larger one without a new sentence
(Nguyen et al., 2020, data diversification).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearformer.folder.description import find_model, open_folder, read_description
from clearformer.foundation import storage
from clearformer.foundation.progress import OnProgress, unwatched
from clearformer.inference.translation_settings import DecodingConfig
from clearformer.tasks.data_files import several
from clearformer.tasks.task import LessonPlan, Teachers
from clearformer.text.lines import read_lines

if TYPE_CHECKING:
    from clearformer.tasks.translation import ParallelData

BLOCK = 2000  # sentences between two saves
Translate = Callable[[Sequence[str]], list[str]]


def add_lessons(data: "ParallelData", teachers: Teachers, plan: LessonPlan) -> "ParallelData":
    """Let the teachers write translations of the training text; returns the data with their files among it."""
    from clearformer.tasks.translation import locate

    forward = {"teacher": list(teachers.together), **_numbered("also", teachers.also)}
    backward = _numbered("back", teachers.back)
    found = {name: [find_model(one) for one in models] for name, models in {**forward, **backward}.items()}
    languages = data.source_language, data.target_language
    for name, folders in found.items():
        for folder in folders:
            _check_direction(folder, *(languages if name in forward else languages[::-1]))

    def write(name: str, given: Path, number: int) -> Path:
        folder = plan.folder / name
        _same_teachers(folder, found[name], plan.options)
        return write_lessons(given, folder / str(number), _opened(found[name], plan.options), plan.on_progress)

    parts = locate(data, plan.base).train.parts
    lessons = [(part.source, write(name, part.source, n)) for name in forward for n, part in enumerate(parts)]
    lessons += [(write(name, part.target, n), part.target) for name in backward for n, part in enumerate(parts)]
    return with_lessons(data, lessons, alone=plan.alone)


def _numbered(role: str, models: Sequence[str | Path]) -> dict[str, list[str | Path]]:
    return {f"{role}-{number}": [model] for number, model in enumerate(models, start=1)}


def _opened(folders: Sequence[Path], decoding: DecodingConfig) -> Translate:
    """A function that translates with these models; they are opened when it is first called, if it is."""
    from clearformer.inference.engines import open_translator

    engines: list[Any] = []

    def translate(texts: Sequence[str]) -> list[str]:
        if not engines:
            engines.append(open_translator(folders[0], config=decoding, others=folders[1:], scores="none"))
        return [found.text for found in engines[0].translate(texts, decoding, any_language=True)]

    return translate


def _check_direction(folder: Path, source: str | None, target: str | None) -> None:
    """Refuse a model that is known to translate in another direction, before it has written for an hour."""
    known = read_description(folder).provenance
    for side, wanted in (("source", source), ("target", target)):
        is_there = known.get(f"{side}_language")
        if wanted and is_there and is_there != wanted:
            raise ValueError(
                f"{folder} translates {known.get('source_language')} to {known.get('target_language')}, but lessons "
                f"from {source} to {target} are wanted here; models of the other direction go behind --back"
            )


def write_lessons(source: Path, folder: Path, translate: Translate, on_progress: OnProgress = unwatched) -> Path:
    """Translate a file line by line; whole blocks that are there already are kept. Returns the file of all lines."""
    total = sum(1 for _ in read_lines(source))
    finished = folder / "target.txt"
    if finished.exists():
        storage.verify(folder)
        return finished
    blocks = folder.parent / f"{folder.name}.blocks"
    blocks.mkdir(parents=True, exist_ok=True)
    storage.sweep(blocks)
    for number, texts in enumerate(_blocks(source)):
        place = blocks / f"{number:06d}"
        if not place.exists():
            lines = [" ".join(text.split("\n")) for text in translate(texts)]
            with storage.new_folder(place) as aside:
                (aside / "target.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        on_progress(min(total, (number + 1) * BLOCK), total)
    with storage.new_folder(folder) as aside, (aside / "target.txt").open("wb") as file:
        for place in sorted(blocks.iterdir()):
            storage.verify(place)
            file.write((place / "target.txt").read_bytes())
    storage.remove(blocks)
    return finished


def with_lessons(data: "ParallelData", lessons: Sequence[tuple[Path, Path]], *, alone: bool) -> "ParallelData":
    """The recipe's data with these pairs of files as further, or as the only, training files."""

    return replace(
        data,
        train_source=(
            *(() if alone else several(data.train_source)),
            *(str(source.resolve()) for source, _ in lessons),
        ),
        train_target=(
            *(() if alone else several(data.train_target)),
            *(str(target.resolve()) for _, target in lessons),
        ),
    )


def _same_teachers(lessons: Path, teachers: Sequence[Path], decoding: DecodingConfig) -> None:
    """Lessons of other teachers, or of another way to search, must not be mixed in one folder."""
    facts = {"teacher": "+".join(open_folder(teacher).fingerprint for teacher in teachers), "beam": decoding.beam}
    note = lessons / "teacher.json"
    if note.exists() and storage.read_json(note) != facts:
        raise ValueError(f"{lessons} holds another teacher's lessons, or those of another beam; choose another --out")
    lessons.mkdir(parents=True, exist_ok=True)
    storage.write_json(note, facts)


def _blocks(source: Path) -> Iterator[list[str]]:
    lines = read_lines(source)
    while block := list(islice(lines, BLOCK)):
        yield block
