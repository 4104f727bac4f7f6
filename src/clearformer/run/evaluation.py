"""The scores that belong to a model's task, on a test set."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from clearformer.folder.description import ModelFolder, open_folder
from clearformer.foundation.progress import OnProgress, unwatched
from clearformer.inference.engines import as_stored
from clearformer.run.recipe import trainable
from clearformer.tasks import name_task
from clearformer.tasks.task import Judging, Scores
from clearformer.training.distributed import Ranks


def evaluate(
    model: str | Path | ModelFolder,
    files: Sequence[Path],
    *,
    options: Any = None,
    scoring: dict[str, Any] | None = None,
    predictor: Any = None,
    on_progress: OnProgress = unwatched,
) -> Scores:
    """Score a model folder on the files of a test set, thoroughly.

    options, scoring: how it is used and compared, by default as its task does. predictor: an open model to ask instead.
    """
    folder = open_folder(model)
    task, training = trainable(name_task(folder.description.task, folder.description.model))
    judging = Judging(
        options=options if options is not None else task.verb.options(),
        scoring=replace(training.scoring(), **(scoring or {})),
        ranks=Ranks(),
        thorough=True,
        on_progress=on_progress,
    )
    held = training.held_out(list(files), folder)
    return training.score(predictor or task.use(as_stored(folder)), held, judging)
