"""The weights that a finished run hands over: the mean of the last checkpoints, or those of the best one."""

from typing import Any

from clearformer.model.weights import put_weights
from clearformer.training.checkpoint import finished_weights
from clearformer.training.loop import Loop
from clearformer.training.optimiser import average


def finish(loop: Loop[Any]) -> None:
    """Put the final weights into the model, as `training.average` says.

    Only checkpoints that an uninterrupted run has too are counted.
    """
    progress, checkpoints, count = loop.training.progress, loop.checkpoints, loop.config.average
    trained = [step for step in checkpoints.planned_steps(progress.step) if step > 0]
    best = [progress.step if progress.best is None else progress.best_step]
    paths = [checkpoints.path(step) for step in (trained[-count:] if count > 1 else best)]
    put_weights(loop.training.model, average(finished_weights(path) for path in paths))
