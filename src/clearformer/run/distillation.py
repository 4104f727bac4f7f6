"""Distillation: a model learns from what others write (Kim and Rush, 2016, sequence level).

People translate one sentence in many ways; a teacher translates it in its one way, which is easier to learn. The
teacher translates the training sources once, in blocks that survive an interruption; the student is then trained by any
recipe on these lessons beside the original translations.

Several teachers, and models of the other direction, say each sentence in several ways: a small corpus becomes a larger
one without a new sentence (Nguyen et al., 2020, data diversification).
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from clearformer.folder.description import find_model, fingerprint, read_description
from clearformer.foundation import storage
from clearformer.foundation.progress import OnProgress, unwatched
from clearformer.inference.translation_settings import DecodingConfig
from clearformer.run.recipe import DataConfig, Recipe
from clearformer.run.train import Watchers, locate, train
from clearformer.text.doctor.parallel import read_lines

log = logging.getLogger(__name__)

BLOCK = 2000  # sentences between two saves
Translate = Callable[[Sequence[str]], list[str]]
Model = str | Path


@dataclass(frozen=True, kw_only=True)
class Teachers:
    """Who writes lessons.

    together: one model, or several that decide about each token together. also: further ones, each of which writes
    translations of its own. back: models of the other direction, which write new sources for the given translations.
    """

    together: Sequence[Model]
    also: Sequence[Model] = ()
    back: Sequence[Model] = ()


def distill(
    teachers: Teachers,
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
    """Let the teachers write lessons for the recipe's text, and train the recipe on them; returns the model folder.

    alone: leave the original translations out. take_layers: begin with some of the first teacher's own layers, so that
    little is left to learn (Shleifer and Rush, 2020). base: where relative file names start from.
    """
    forward = {"teacher": teachers.together, **_numbered("also", teachers.also)}
    backward = _numbered("back", teachers.back)
    found = {name: [find_model(one) for one in models] for name, models in {**forward, **backward}.items()}
    first = found["teacher"][0]
    model = taken_over(recipe.model, first) if take_layers else recipe.model
    parts = locate(recipe.data, base).train.parts
    languages = recipe.data.source_language, recipe.data.target_language
    for name, folders in found.items():
        for folder in folders:
            _check_direction(folder, *(languages if name in forward else languages[::-1]))

    def write(name: str, given: Path, number: int) -> Path:
        folder = out / "lessons" / name
        _same_teachers(folder, found[name], recipe.decoding)
        return write_lessons(given, folder / str(number), _opened(found[name], recipe.decoding), on_progress)

    lessons = [(part.source, write(name, part.source, n)) for name in forward for n, part in enumerate(parts)]
    lessons += [(write(name, part.target, n), part.target) for name in backward for n, part in enumerate(parts)]
    data = with_lessons(recipe.data, lessons, alone=alone)
    return train(replace(recipe, data=data, model=model), out, resume=resume, base=base, watchers=watchers)


def _numbered(role: str, models: Sequence[Model]) -> dict[str, list[Model]]:
    return {f"{role}-{number}": [model] for number, model in enumerate(models, start=1)}


def _opened(folders: Sequence[Path], decoding: DecodingConfig) -> Translate:
    """A function that translates with these models; they are opened when it is first called, if it is."""
    from clearformer.inference.engines import open_translator

    engines: list[Any] = []

    def translate(texts: Sequence[str]) -> list[str]:
        if not engines:
            engines.append(open_translator(folders[0], config=decoding, others=folders[1:], scores="none"))
        return [found.text for found in engines[0].translate(texts, decoding)]

    return translate


def _check_direction(folder: Path, source: str | None, target: str | None) -> None:
    """Refuse a model that is known to translate in another direction, before it has written for an hour."""
    known = read_description(folder).get("provenance", {})
    for side, wanted in (("source", source), ("target", target)):
        is_there = known.get(f"{side}_language")
        if wanted and is_there and is_there != wanted:
            raise ValueError(
                f"{folder} translates {known.get('source_language')} to {known.get('target_language')}, but lessons "
                f"from {source} to {target} are wanted here; models of the other direction go behind --back"
            )


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


def with_lessons(data: DataConfig, lessons: Sequence[tuple[Path, Path]], *, alone: bool) -> DataConfig:
    """The recipe's data with these pairs of files as further, or as the only, training files."""

    def several(names: str | tuple[str, ...]) -> tuple[str, ...]:
        return () if alone else (names,) if isinstance(names, str) else names

    return replace(
        data,
        train_source=(*several(data.train_source), *(str(source.resolve()) for source, _ in lessons)),
        train_target=(*several(data.train_target), *(str(target.resolve()) for _, target in lessons)),
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
