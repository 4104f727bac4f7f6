"""A recipe: everything that decides what a training run does, as one TOML file.

Its first line names the task, which decides with which dataclasses [data], [objective], [use] and [scoring] are read.
`[model]` names a preset or a family and lays values over it; sizes that the data decides come from the data.
`model.from` names a model folder to begin with instead.
"""

import difflib
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, make_dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, cast

from clearformer.folder.description import find_model
from clearformer.folder.fetched import lasting_name
from clearformer.folder.run_folder import RECIPE
from clearformer.foundation import settings
from clearformer.interop.hub_models import here
from clearformer.tasks import TASKS, find_task
from clearformer.tasks.data_files import seen_from
from clearformer.tasks.model_section import model_config
from clearformer.tasks.task import Task, Training
from clearformer.training.loop import TrainingConfig

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A run, described. data, objective, use, scoring: the task's own; model: plain until its sizes are known."""

    task: str  # what the model is for; decides how [data], [objective], [use] and [scoring] are read
    name: str = "run"  # of the run: without --out, its folder is runs/ and this name
    data: Any
    objective: Any
    model: dict[str, Any] = field(default_factory=lambda: {"preset": "tiny"})
    training: TrainingConfig = field(default_factory=TrainingConfig)
    use: Any  # how the model is used, in validation and by default afterwards
    scoring: Any


def read_recipe(path: Path, changes: Iterable[str] = ()) -> Recipe:
    """A recipe file with `key.path=value` changes laid over it."""
    changes, values = list(changes), settings.read_toml(path)
    where = f"{path} with {' '.join(changes)}" if changes else str(path)  # the mistake may be in either
    try:
        return parse_recipe(settings.overlay(values, changes), where, base=path.parent)
    except settings.SettingError as error:
        changed = {change.partition("=")[0].strip() for change in changes}
        if error.key in changed:  # and then the file has no part in it
            raise ValueError(error.sentence) from None
        raise


def parse_recipe(values: Mapping[str, Any], where: str, *, base: Path = Path()) -> Recipe:
    """Plain values as a recipe. What does not fit is found here, before anything is prepared.

    base: where relative file names start from.
    """
    if "task" not in values:
        raise ValueError(f"{where}: task is missing; begin with a line such as task = {next(iter(TASKS))!r}")
    if not isinstance(values["task"], str):
        raise ValueError(f"{where}: task must be the name of a task, not {values['task']!r}")
    try:
        task, _ = trainable(values["task"])
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    recipe = settings.parse(_recipe_type(task.name), {**values, "task": task.name}, where)
    try:
        model_config(recipe.model, {}, base=find_start(recipe.model, base))
    except settings.SettingError as error:
        raise settings.SettingError(where, error.key, error.sentence) from None
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    return recipe


def begun_with(recipe: Recipe, start: str | Path) -> Recipe:
    """The same recipe from a model folder: its sizes are the model's, and of [model] only dropout and head stay."""
    kept = {name: value for name, value in recipe.model.items() if name in ("dropout", "head")}
    model = {"from": lasting_name(find_model(here(start))), **kept}
    longest = model_config(model, {}).max_len  # what does not fit is said now
    data = recipe.data
    if getattr(data, "max_length", 0) > longest:
        log.info("data.max_length is %d, because the model to begin with reads no more", longest)
        data = replace(data, max_length=longest)
    return replace(recipe, model=model, data=data)


def turned_round(recipe: Recipe) -> Recipe:
    """The same recipe for the other direction."""
    _, training = trainable(recipe.task)
    if training.reverse is None:
        raise ValueError(f"{recipe.task} has no other direction; leave --reverse out")
    return replace(recipe, name=f"{recipe.name}-reverse", data=training.reverse(recipe.data))


def trainable(name: str) -> tuple[Task, Training[Any, Any, Any, Any]]:
    """A task that can be trained, by name."""
    task = find_task(name)
    if task.training is None:
        raise ValueError(f"models for {name} can be imported but not trained yet")
    return task, task.training


@cache
def _recipe_type(name: str) -> type[Recipe]:
    """`Recipe` with the task's own sections, so that a wrong key or type in them is named like any other."""
    task, training = trainable(name)
    sections = {
        "data": training.data, "objective": training.objective, "use": task.verb.options, "scoring": training.scoring
    }  # fmt: skip
    made = make_dataclass(
        "Recipe",
        [(key, kind, field(default_factory=kind)) for key, kind in sections.items()],
        bases=(Recipe,),
        frozen=True,
        kw_only=True,
    )
    return cast(type[Recipe], made)


def find_recipe(name: str) -> Path:
    """A recipe by file name, or by the name of one that ships with the package."""
    path = Path(name)
    if path.suffix == ".toml" or path.is_file():  # a run's folder may well have the name of its recipe
        return path
    shipped = Path(str(resources.files("clearformer") / "recipes" / f"{name}.toml"))
    if not shipped.exists():
        known = sorted(file.stem for file in shipped.parent.glob("*.toml"))
        near = difflib.get_close_matches(name, known, n=1)
        ships = f"did you mean {near[0]}?" if near else f"shipped are {', '.join(known)}"
        raise ValueError(f"there is no recipe file {name} and no recipe of that name; {ships}")
    return shipped


def keep_recipe(recipe: Recipe, out: Path, *, base: Path, resume: bool) -> None:
    """Write a run's recipe down as resolved; name what differs from the one that the run was started with."""
    moved = replace(recipe, data=seen_from(out, recipe.data, base))
    path, text = out / RECIPE, settings.to_toml(settings.to_plain(moved))
    if resume and path.exists() and (before := path.read_text(encoding="utf-8")) != text:
        changed = sorted(set(text.splitlines()) - set(before.splitlines()))
        log.warning("the recipe is not the one that this run was started with; now it says: %s", "; ".join(changed))
    path.write_text(text, encoding="utf-8")


def find_start(model: Mapping[str, Any], base: Path) -> Path | None:
    """The model folder that training begins with, if [model] names one; fetched if it is one of the hub."""
    if "from" not in model:
        return None
    beside = base / str(model["from"])
    return find_model(beside if beside.exists() else here(str(model["from"]))).resolve()


def with_start(recipe: Recipe, base: Path) -> Recipe:
    """The recipe with the whole name of the model that it begins with, so that it means the same everywhere: a path, or
    a commit of the hub."""
    start = find_start(recipe.model, base)
    return recipe if start is None else replace(recipe, model={**recipe.model, "from": lasting_name(start)})
