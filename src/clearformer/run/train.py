"""From a recipe to a trained model folder, for any task.

The folder of a run: `recipe.toml` as resolved, what the task prepared, `checkpoints/`, `metrics.jsonl`, and at the end
`model/` and, where a task can say what its model gets wrong, `report.json`. Started again with `resume`, it continues
where it was and ends with the same bits.
"""

import logging
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from clearformer.evaluation.report import ErrorReport
from clearformer.folder import bundle
from clearformer.folder.description import open_folder
from clearformer.folder.run_folder import CHECKPOINTS, DESCRIPTION, MODEL, alone_in
from clearformer.foundation.progress import OnProgress, unwatched
from clearformer.run.beginning import begin
from clearformer.run.ending import end
from clearformer.run.loop_parts import loop_parts
from clearformer.run.plan import foresee, make_loop, size_in_words
from clearformer.run.recipe import Recipe, keep_recipe, trainable, with_start
from clearformer.tasks.task import Workspace
from clearformer.training.distributed import Ranks
from clearformer.training.loop import StepReport
from clearformer.training.process_settings import suited_to_training
from clearformer.training.signals import Stop

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Watchers:
    """Whoever wants to know how it goes; the command line draws bars."""

    prepare: OnProgress = unwatched
    plan: Callable[[int, str], None] = lambda steps, unit: None  # how many steps, of what, before the first one
    train: Callable[[StepReport], None] = lambda report: None
    report: Callable[[ErrorReport], None] = lambda report: None  # what it gets wrong, where the task can say that


class Interrupted(Exception):  # noqa: N818 - it is not an error
    """A run was asked to stop and can be resumed."""


def train(
    recipe: Recipe,
    out: Path,
    *,
    resume: bool = False,
    base: Path = Path(),
    minutes: float | None = None,
    watchers: Watchers | None = None,
) -> Path:
    """Train as the recipe says; returns the finished model folder.

    base: where relative file names start from. minutes: change the number of steps so that it takes about so long.
    """
    if not resume and (out / CHECKPOINTS).exists():
        raise ValueError(f"{out} holds a run already; resume it with --resume, or choose another --out")
    recipe, watchers = with_start(recipe, base), watchers or Watchers()
    ranks = Ranks()
    if resume and ranks.count == 1 and not out.exists():  # torchrun's restarts say --resume from the first launch on
        raise ValueError(f"there is no run in {out} to resume; leave --resume out to begin one")
    workspace = Workspace(
        folder=out,
        base=base,
        resume=resume,
        first=ranks.first,
        start=open_folder(recipe.model["from"]) if "from" in recipe.model else None,
        options=recipe.use,
        on_progress=watchers.prepare,
    )
    try:
        trainable(recipe.task)[1].check(recipe.data, workspace)
        with suited_to_training(), alone_in(out) if ranks.first else nullcontext():
            return _train(recipe, workspace, ranks, minutes, watchers)
    finally:
        ranks.close()


def _train(recipe: Recipe, workspace: Workspace, ranks: Ranks, minutes: float | None, watchers: Watchers) -> Path:
    out, resume = workspace.folder, workspace.resume
    task, training = trainable(recipe.task)
    if ranks.first:  # before hours of preparation, so that a run that is killed in them can be resumed
        keep_recipe(recipe, out, base=workspace.base, resume=resume)
    with ranks.first_then_others():
        prepared = training.prepare(recipe.data, workspace)
    made = begin(task, recipe, prepared, ranks.device)
    parts = loop_parts(task, recipe, made, prepared, ranks)
    loop = make_loop(recipe, made, parts, out, ranks)
    if not resume:
        log.info("model: %s", size_in_words(made))
        recipe = foresee(loop, recipe, minutes)
        loop = make_loop(recipe, made, parts, out, ranks)
    if ranks.first:
        if minutes is not None and not resume:
            keep_recipe(recipe, out, base=workspace.base, resume=False)
        bundle.save_description(made, out / DESCRIPTION)
    if resume:
        log.info("resuming from step %d", loop.resume())
    watchers.plan(recipe.training.steps, training.unit)
    with Stop() as stop:
        progress = loop.run(watch=watchers.train, stop=stop)
    if not loop.done():
        raise Interrupted(
            f"stopped at step {progress.step:,} and saved; resume with: clearformer train --resume --out {out}"
        )
    if ranks.first:
        report = end(loop, task, recipe, made, prepared)
        if report is not None:
            watchers.report(report)
    ranks.wait()
    return out / MODEL
