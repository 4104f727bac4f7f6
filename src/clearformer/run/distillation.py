"""Distillation: a model learns from what others make of its data.

The task says what a lesson is and writes it (`Training.lessons`); the student is then trained by any recipe on these
lessons beside, or instead of, the original examples.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from clearformer.folder.description import find_model, read_description
from clearformer.folder.fetched import lasting_name
from clearformer.foundation.progress import OnProgress, unwatched
from clearformer.run.recipe import Recipe, trainable
from clearformer.run.train import Watchers, train
from clearformer.tasks.task import LessonPlan, Teachers


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
    """Let the teachers write lessons for the recipe's data, and train the recipe on them; returns the model folder.

    alone: leave the original examples out. take_layers: begin with some of the first teacher's own layers, so that
    little is left to learn (Shleifer and Rush, 2020). base: where relative file names start from.
    """
    _, training = trainable(recipe.task)
    if training.lessons is None:
        raise ValueError(f"there are no lessons for {recipe.task} yet, so it cannot be distilled")
    model = taken_over(recipe.model, find_model(teachers.together[0])) if take_layers else recipe.model
    plan = LessonPlan(folder=out / "lessons", base=base, options=recipe.use, alone=alone, on_progress=on_progress)
    data = training.lessons(recipe.data, teachers, plan)
    return train(replace(recipe, data=data, model=model), out, resume=resume, base=base, watchers=watchers)


def taken_over(model: Mapping[str, Any], teacher: Path) -> dict[str, Any]:
    """The student as a recipe's [model] section says, but of the teacher's widths and vocabulary, and begun with its
    layers.
    """
    own = {name: value for name, value in model.items() if name not in ("preset", "family")}
    described = read_description(teacher).model
    for name in ("layers", "decoder_layers"):
        there = described.get(name) or described["layers"]
        if own.get(name, 0) > there:  # before the teacher has written for an hour
            raise ValueError(f"model.{name} is {own[name]}, but the teacher has {there} to take from; ask for fewer")
    return {**own, "from": lasting_name(teacher)}
