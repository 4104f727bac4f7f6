"""From somebody's data to a recipe: the tasks are asked what they make of it, and the one that knows chooses."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from clearformer.data.file_facts import refuse_blank
from clearformer.data.readers.tables import has_rows
from clearformer.data.readers.texts import is_table
from clearformer.folder.description import open_folder
from clearformer.folder.fetched import place_of
from clearformer.folder.run_folder import RECIPE
from clearformer.foundation import settings
from clearformer.interop.hub_models import here
from clearformer.tasks import all_tasks, find_task
from clearformer.tasks.automatic.fine_tuning import begin_with
from clearformer.tasks.task import Automatic, Choice, Chosen, Examined, Task

SCRATCH = "scratch"  # --start says so where no model is wanted
STEPS = "training.steps"
# What a choice is called in the table, and the key of the recipe below which it lies.
KEYS = {
    "steps": STEPS, "vocabulary": "data.vocabulary", "context": "data.context", "length": "data.max_length",
    "model": "model", "dropout": "model.dropout", "batch": "training.batch_tokens",
    "learning rate": "training.schedule", "optimiser": "training.optimiser",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Recognised:
    """What data is taken for: a task, and why in a few words."""

    task: Task
    automatic: Automatic
    words: str


def recognise(files: Sequence[Path], task: str | None = None) -> Recognised:
    """The task that knows what to do with this data; with `task`, that one or nobody."""
    for path in files:
        if not path.exists():
            raise ValueError(f"{path} does not exist; check the name")
        if path.is_file() and is_table(path):
            _refuse_without_rows(path)
    asked = [find_task(task)] if task is not None else list(all_tasks())
    for one in asked:
        if one.automatic is not None and (words := one.automatic.recognise(files)) is not None:
            return Recognised(task=one, automatic=one.automatic, words=words)
    named = " and ".join(map(str, files))
    known = ", ".join(one.name for one in all_tasks() if one.automatic is not None)
    wanted = f"as data for {task}" if task is not None else f"as data that can be trained on (tried: {known})"
    raise ValueError(
        f"{named} cannot be read {wanted}; give two parallel text files, a text file, a table of texts with labels or "
        "with a shorter text beside each, conversations in JSON lines, a CoNLL file, questions in the layout of SQuAD, "
        "recordings beside their texts, pictures with boxes (COCO JSON or VOC XML) or beside masks, or a folder with "
        "one subfolder of pictures per class"
    )


def _refuse_without_rows(path: Path) -> None:
    """Each task would say in its own way that it cannot read such a table, or pass it on to the next."""
    refuse_blank([path])
    if not has_rows(path):
        raise ValueError(f"{path} has no rows below its first line; add some, or give another file")


def examine(files: Sequence[Path], task: str | None = None) -> Examined:
    """What is wrong with this data."""
    return recognise(files, task).automatic.examine(files)


def choose(files: Sequence[Path], out: Path, task: str | None = None, *, start: str | Path | None = None) -> Chosen:
    """Choose everything, hold a part out, and write the recipe into the run's folder. start: a model to begin with."""
    chosen = choose_for(recognise(files, task), files, out, start=start)
    write_recipe(chosen.recipe, out)
    return chosen


def choose_for(found: Recognised, files: Sequence[Path], out: Path, *, start: str | Path | None = None) -> Chosen:
    """The choices for data that was recognised: from the model that is named, else from one that suits and is here."""
    # A model that is not there is refused before anything is made.
    given = None if start is None or start == SCRATCH else open_folder(here(start))
    chosen = found.automatic.choose(files, out)
    if given is not None:
        return begin_with(chosen, given)
    return chosen if start == SCRATCH or not chosen.start else _with_its_start(chosen)


def _with_its_start(chosen: Chosen) -> Chosen:
    """Begin with the published model that suits this data; where it was not fetched, say what it would bring."""
    place = place_of(chosen.start)
    if place is not None and place.is_dir():
        reason = f"{chosen.start} knows much of such data already; `--start {SCRATCH}` does without it"
        return begin_with(chosen, open_folder(place), reason=reason)
    missed = Choice(
        what="start",
        value="from scratch",
        reason=f"`clearformer models get {chosen.start}` once gives this data a far better beginning",
    )
    return replace(chosen, choices=[*chosen.choices, missed])


def announced(choices: Sequence[Choice], changes: Sequence[str], minutes: float | None) -> list[Choice]:
    """The choices as the run will follow them: without those that `key.path=value` changes, or the time, overrule."""
    if minutes is not None:
        changes = [change for change in changes if _key_of(change) != STEPS]
    kept = [one for one in choices if not any(_overrules(change, one.what) for change in changes)]
    timed = [_by_the_clock(one, minutes) if minutes is not None and one.what == "steps" else one for one in kept]
    return [*timed, *(Choice(what="changed", value=one, reason="the command line says so") for one in changes)]


def _key_of(change: str) -> str:
    return change.partition("=")[0].strip()


def _overrules(change: str, what: str) -> bool:
    key, own = _key_of(change), KEYS.get(what)
    return own is not None and f"{key}.".startswith(f"{own}.")


def _by_the_clock(steps: Choice, minutes: float) -> Choice:
    many = "minute" if minutes == 1 else "minutes"
    return replace(
        steps,
        value=f"as many as {minutes:g} {many} allow",
        reason=f"--minutes decides; the number is said below, once a few were timed (without it: {steps.value})",
    )


def write_recipe(values: dict[str, Any], out: Path) -> None:
    """Put a recipe into the folder of a run."""
    out.mkdir(parents=True, exist_ok=True)
    (out / RECIPE).write_text(settings.to_toml(values), encoding="utf-8")
