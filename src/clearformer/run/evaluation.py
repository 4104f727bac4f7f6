"""The scores that belong to a model's task, and what it gets wrong, on a test set."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from clearformer.data.file_facts import refuse_blank
from clearformer.evaluation.report import ErrorReport
from clearformer.folder.description import ModelFolder, open_folder
from clearformer.foundation.progress import OnProgress, unwatched
from clearformer.inference.engines import Engine, open_bundle
from clearformer.run.recipe import trainable
from clearformer.tasks import name_task
from clearformer.tasks.in_use import in_use
from clearformer.tasks.task import Judging, Scores, Training
from clearformer.training.distributed import Ranks


class _Judged(NamedTuple):
    training: Training[Any, Any, Any, Any]
    predictor: Any
    held: Any
    judging: Judging


def evaluate(
    model: str | Path | ModelFolder,
    files: Sequence[Path],
    *,
    options: Any = None,
    scoring: dict[str, Any] | None = None,
    predictor: Any = None,
    others: Sequence[str | Path] = (),
    engine: Engine = "auto",
    on_progress: OnProgress = unwatched,
) -> Scores:
    """Score a model folder on the files of a test set, thoroughly.

    options, scoring: how it is used and compared, by default as its task does. predictor: an open model to ask instead.
    others: models that decide together with the first. engine: what runs them.
    """
    one = _open(model, files, options, scoring, on_progress, predictor=predictor, others=others, engine=engine)
    return one.training.score(one.predictor, one.held, one.judging)


def report(
    model: str | Path | ModelFolder,
    files: Sequence[Path],
    *,
    options: Any = None,
    scoring: dict[str, Any] | None = None,
    others: Sequence[str | Path] = (),
    engine: Engine = "auto",
    on_progress: OnProgress = unwatched,
) -> ErrorReport:
    """The same with what the model gets wrong; a task that cannot say that has its scores alone."""
    one = _open(model, files, options, scoring, on_progress, others=others, engine=engine)
    if one.training.report is None:
        return ErrorReport(scores=one.training.score(one.predictor, one.held, one.judging))
    return one.training.report(one.predictor, one.held, one.judging)


def _open(
    model: str | Path | ModelFolder,
    files: Sequence[Path],
    options: Any,
    scoring: dict[str, Any] | None,
    on_progress: OnProgress,
    *,
    predictor: Any = None,
    others: Sequence[str | Path] = (),
    engine: Engine = "auto",
) -> _Judged:
    refuse_blank(files)
    folder = open_folder(model)
    task, training = trainable(name_task(folder.description.task, folder.description.model))
    judging = Judging(
        options=options if options is not None else task.verb.options_for(folder.provenance),
        scoring=replace(training.scoring(), **(scoring or {})),
        ranks=Ranks(),
        thorough=True,
        on_progress=on_progress,
    )
    held = training.held_out(list(files), folder)
    if predictor is None:
        predictor = in_use(*(open_bundle(one, engine) for one in (folder, *others)))
    return _Judged(training, predictor, held, judging)
