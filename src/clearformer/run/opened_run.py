"""From the folder of a run to its model, whether it is finished or under way: the one way for whoever wants to look."""

from pathlib import Path

from clearformer.folder import bundle
from clearformer.folder.bundle import Bundle
from clearformer.folder.description import ModelFolder
from clearformer.folder.run_folder import CHECKPOINTS, DESCRIPTION, MODEL
from clearformer.training.checkpoint import Checkpoints, finished_weights


def open_run(run: Path, step: int | None = None) -> Bundle:
    """The model of a run as it was at a step; without one, the finished model, or else the newest checkpoint."""
    if step is None and (run / MODEL).exists():
        return bundle.load(run / MODEL)
    checkpoints = Checkpoints(run / CHECKPOINTS, keep=1)
    steps = checkpoints.steps()
    if not steps or (step is not None and step not in steps):
        wanted = "no checkpoint yet" if not steps else f"no checkpoint at step {step}; it has {_listed(steps)}"
        raise ValueError(f"the run in {run} has {wanted}")
    described = ModelFolder(run / DESCRIPTION)
    described.verify()
    return bundle.with_weights(described, finished_weights(checkpoints.path(steps[-1] if step is None else step)))


def _listed(steps: list[int]) -> str:
    return ", ".join(map(str, steps[-5:]))
