"""The end of a run: the final weights, what the development set decides of their use, and what the model gets wrong."""

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

from clearformer.evaluation.report import SHOWN, ErrorReport
from clearformer.figures.confusion_figure import ConfusionFigure
from clearformer.folder import bundle
from clearformer.folder.bundle import Bundle
from clearformer.folder.run_folder import MODEL
from clearformer.foundation import storage
from clearformer.model.adapters import merged
from clearformer.run.recipe import Recipe
from clearformer.tasks.task import Judging, Prepared, Task
from clearformer.training.distributed import Ranks
from clearformer.training.finish import finish
from clearformer.training.loop import Loop

log = logging.getLogger(__name__)
REPORT, CONFUSION = "report.json", "confusion.svg"


def end(loop: Loop[Any], task: Task, recipe: Recipe, made: Bundle, prepared: Prepared[Any]) -> ErrorReport | None:
    """Write the model folder; returns what the model gets wrong of the development set, where its task can say that."""
    assert task.training is not None
    finish(loop)
    plain = replace(made, model=merged(made.model))  # what is used looks at weights, which adapters are not part of
    judging = Judging(options=recipe.use, scoring=recipe.scoring, ranks=Ranks.alone(), thorough=True)
    if task.training.settle is not None:
        settled = task.training.settle(task.use(plain), prepared.held, judging)
        decided = replace(made.preprocessing, outcome=settled.outcome)
        made, plain = replace(made, preprocessing=decided), replace(plain, preprocessing=decided)
        log.info("%s", settled.said)
    bundle.save(made, loop.folder / MODEL)
    if task.training.report is None:
        return None
    report = task.training.report(task.use(plain), prepared.held, judging)
    write_report(report, loop.folder, "dev")
    return report


def write_report(report: ErrorReport, folder: Path, part: str) -> None:
    """report.json, and the confusions as a picture. part: of the data, dev or test."""
    storage.write_json(folder / REPORT, {"part": part, **report.plain()})
    if report.confusion is None:
        return
    shown = report.confusion.first(SHOWN)
    hidden = len(report.confusion.labels) - len(shown.labels)
    title = f"{part}: true classes and what the model said" + (f" ({hidden} more classes)" if hidden else "")
    drawn = ConfusionFigure(labels=shown.labels, counts=shown.counts).svg(title)
    (folder / CONFUSION).write_text(drawn, encoding="utf-8")
