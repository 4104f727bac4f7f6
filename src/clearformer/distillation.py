"""Distillation: a small model learns from what a large one writes (Kim and Rush, 2016, sequence level).

People translate one sentence in many ways; a teacher translates it in its one way, which is easier to learn. The
teacher translates the training sources once, in blocks that survive an interruption; the student is then trained by any
recipe on these lessons beside the original translations.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from clearformer import storage
from clearformer.folder import find_model, fingerprint, read_description
from clearformer.recipe import DataConfig, Recipe
from clearformer.run import Watchers, locate, train
from clearformer.text.doctor import read_lines
from clearformer.translation import DecodingConfig, OnProgress, unwatched

log = logging.getLogger(__name__)

BLOCK = 2000  # sentences between two saves
Translate = Callable[[Sequence[str]], list[str]]


def distill(
    teachers: Sequence[str | Path],
    recipe: Recipe,
    out: Path,
    *,
    resume: bool = False,
    base: Path = Path(),
    alone: bool = False,
    take_layers: bool = False,
    watchers: Watchers | None = None,
    on_progress: OnProgress = unwatched,
) -> Path:
    """Let the teachers write lessons for the recipe's sources, and train the recipe on them; returns the model folder.

    teachers: one, or several who decide about each token together. alone: leave the original translations out.
    take_layers: begin with some of the first teacher's own layers, so that little is left to learn (Shleifer and Rush,
    2020). base: where relative file names start from.
    """
    from clearformer.engines import open_translator

    folders = [find_model(teacher) for teacher in teachers]
    model = taken_over(recipe.model, folders[0]) if take_layers else recipe.model
    sources = [part.source for part in locate(recipe.data, base).train.parts]
    engine = open_translator(folders[0], config=recipe.decoding, others=folders[1:], scores="none")

    def translate(texts: Sequence[str]) -> list[str]:
        return [found.text for found in engine.translate(texts, recipe.decoding)]

    lessons = out / "lessons"
    _same_teachers(lessons, folders, recipe.decoding)
    written = [
        write_lessons(source, lessons / str(number), translate, on_progress) for number, source in enumerate(sources)
    ]
    data = with_lessons(recipe.data, sources, written, alone=alone)
    return train(replace(recipe, data=data, model=model), out, resume=resume, base=base, watchers=watchers)


def taken_over(model: Mapping[str, Any], teacher: Path) -> dict[str, Any]:
    """The student as a recipe's [model] section says, but of the teacher's widths and vocabulary, and begun with its
    layers.
    """
    own = {name: value for name, value in model.items() if name not in ("preset", "family")}
    described = read_description(teacher)["model"]
    for name in ("layers", "decoder_layers"):
        there = described.get(name) or described["layers"]
        if own.get(name, 0) > there:  # before the teacher has written for an hour
            raise ValueError(f"model.{name} is {own[name]}, but the teacher has {there} to take from; ask for fewer")
    return {**own, "from": str(teacher.resolve())}


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


def with_lessons(data: DataConfig, sources: Sequence[Path], lessons: Sequence[Path], *, alone: bool) -> DataConfig:
    """The recipe's data with the teacher's translations as further, or as the only, training files."""

    def several(names: str | tuple[str, ...]) -> tuple[str, ...]:
        return () if alone else (names,) if isinstance(names, str) else names

    return replace(
        data,
        train_source=(*several(data.train_source), *(str(path.resolve()) for path in sources)),
        train_target=(*several(data.train_target), *(str(path.resolve()) for path in lessons)),
    )


def _same_teachers(lessons: Path, teachers: Sequence[Path], decoding: DecodingConfig) -> None:
    """Lessons of other teachers, or of another way to search, must not be mixed in one folder."""
    facts = {"teacher": "+".join(map(fingerprint, teachers)), "beam": decoding.beam}
    note = lessons / "teacher.json"
    if note.exists() and storage.read_json(note) != facts:
        raise ValueError(f"{lessons} holds another teacher's lessons, or those of another beam; choose another --out")
    lessons.mkdir(parents=True, exist_ok=True)
    storage.write_json(note, facts)


def _blocks(source: Path) -> Iterator[list[str]]:
    lines = read_lines(source)
    while block := list(islice(lines, BLOCK)):
        yield block
