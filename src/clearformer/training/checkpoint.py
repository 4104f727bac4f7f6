"""A training run on disk that can be killed at any moment and go on as if nothing had happened.

Everything that the next step depends on is here: weights, optimiser moments, the moving average, what rows of data that
go on from batch to batch remember, and a few numbers.
Data order and dropout are functions of (seed, position), so their state is a position.
"""

import logging
import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
from torch import Tensor, nn

from clearformer.foundation import storage
from clearformer.model.weights import put_weights, weights_of
from clearformer.training.muon import Muon
from clearformer.training.optimiser import MovingAverage

log = logging.getLogger(__name__)

MODEL, OPTIMISER, AVERAGE, PROGRESS = "model.safetensors", "optimiser.safetensors", "ema.safetensors", "progress.json"
LEFT = "left.safetensors"  # there only where rows of data go on from batch to batch


@dataclass
class Progress:
    """How far a run is. Floats survive JSON exactly: Python writes the shortest text that reads back the same."""

    step: int = 0  # updates made
    position: int = 0  # micro-batches taken from the plan; ahead of steps × accumulation after a refused update
    records: int = 0  # lines written to the log
    skipped: int = 0  # updates refused because the loss was not a number or far too large
    skipped_in_a_row: int = 0
    rollbacks: int = 0
    count: int = 0  # of what the loss counts
    smooth_loss: float | None = None  # a running mean: what a spike is measured against
    best: float | None = None
    best_step: int = 0
    stale: int = 0  # validations since the best one
    window: dict[str, float] = field(default_factory=dict)  # sums since the last log line


@dataclass
class TrainingState:
    """The parts of a run that change from step to step. left: what the rows of the last batch leave to the next."""

    model: nn.Module
    optimiser: torch.optim.Optimizer
    progress: Progress
    ema: MovingAverage | None = None
    left: Tensor | None = None

    def save(self, folder: Path) -> None:
        """Write a checkpoint, whole or not at all."""
        with storage.new_folder(folder) as aside:
            storage.write_tensors(aside / MODEL, weights_of(self.model))
            storage.write_tensors(aside / OPTIMISER, moments_of(self.model, self.optimiser))
            if self.ema is not None:
                storage.write_tensors(aside / AVERAGE, self.ema.weights)
            if self.left is not None:
                storage.write_tensors(aside / LEFT, {"left": self.left})
            storage.write_json(aside / PROGRESS, asdict(self.progress))

    def load(self, folder: Path) -> None:
        """Take everything back from a checkpoint, after checking it."""
        storage.verify(folder)
        if (folder / AVERAGE).exists() != (self.ema is not None):
            raise ValueError(f"{folder} was made with another training.optimiser.ema; resume with the run's own recipe")
        moments = storage.read_tensors(folder / OPTIMISER)
        if moments and any(name.startswith("momentum.") for name in moments) != isinstance(self.optimiser, Muon):
            raise ValueError(
                f"{folder} was made with another training.optimiser.kind; resume with the run's own recipe"
            )
        progress = read_progress(folder)  # before anything is changed
        put_weights(self.model, storage.read_tensors(folder / MODEL))
        put_moments(self.model, self.optimiser, moments)
        if self.ema is not None:
            self.ema.put(storage.read_tensors(folder / AVERAGE))
        left = storage.read_tensors(folder / LEFT)["left"] if (folder / LEFT).exists() else None
        self.left = None if left is None else left.to(next(self.model.parameters()).device)
        self.progress = progress


def read_progress(folder: Path) -> Progress:
    """How far the run of a checkpoint was."""
    try:
        return Progress(**storage.read_json(folder / PROGRESS))
    except TypeError:  # names that this version does not have: the manifest has shown that the file is whole
        raise ValueError(
            f"{folder / PROGRESS} was written by another version of clearformer; finish the run with that one, or "
            "begin it anew in another folder"
        ) from None


class Checkpoints:
    """The checkpoints of a run: `<step>/` folders, the newest few and the best one kept.

    planned: whether every run of this recipe saves at a step. A checkpoint at another step is there because somebody
    asked the run to stop, and only to go on from: if it were counted, averaged or rolled back to, the result would
    depend on the interruption.
    """

    def __init__(self, folder: Path, *, keep: int, planned: Callable[[int], bool] = lambda step: True) -> None:
        self.folder, self.keep, self._planned = folder, keep, planned

    def steps(self) -> list[int]:
        """Steps that have a checkpoint, oldest first."""
        found = self.folder.iterdir() if self.folder.exists() else []
        return sorted(int(path.name) for path in found if re.fullmatch(r"[0-9]{8,}", path.name))

    def planned_steps(self, last: int) -> list[int]:
        """Those up to a step that an uninterrupted run has too."""
        return [step for step in self.steps() if step <= last and self._planned(step)]

    def path(self, step: int) -> Path:
        """Where the checkpoint of a step is."""
        return self.folder / f"{step:08d}"

    def save(self, training: TrainingState) -> Path:
        """Write a checkpoint, then let old ones go."""
        path = self.path(training.progress.step)
        training.save(path)
        self.tidy(training.progress)
        return path

    def tidy(self, progress: Progress) -> None:
        """Point to the best checkpoint and remove what is not kept.

        Newer ones than the present step go too: they were damaged, or we would have gone on from them.
        """
        spared = {progress.step, *self.planned_steps(progress.step)[-self.keep :]}
        if progress.best is not None:
            spared.add(progress.best_step)
            if self.path(progress.best_step).exists():
                storage.point(self.folder / "best", self.path(progress.best_step))
        for step in set(self.steps()) - spared:
            storage.remove(self.path(step))

    def load_newest(self, training: TrainingState) -> int | None:
        """Go on from the newest checkpoint that is whole; returns its step, or None if there is none at all."""
        return self._load_first_whole(training, reversed(self.steps()))

    def load_planned(self, training: TrainingState) -> int | None:
        """Go back to the checkpoint that an uninterrupted run would go back to."""
        return self._load_first_whole(training, reversed(self.planned_steps(training.progress.step)))

    def _load_first_whole(self, training: TrainingState, steps: Iterable[int]) -> int | None:
        """A damaged one is named and passed over: an older one leads to the same result, only later."""
        damage = None
        for step in steps:
            try:
                training.load(self.path(step))
            except (storage.DamagedError, OSError) as error:
                log.error("%s", error)
                damage = error
                continue
            return step
        if damage is not None:
            raise storage.DamagedError(
                f"no checkpoint in {self.folder} is whole; begin anew in another folder"
            ) from damage
        return None


def finished_weights(folder: Path) -> dict[str, Tensor]:
    """The weights of a checkpoint as they are used in the end: averaged over steps where an average was kept."""
    storage.verify(folder)
    weights = storage.read_tensors(folder / MODEL)
    return weights | storage.read_tensors(folder / AVERAGE) if (folder / AVERAGE).exists() else weights


def moments_of(model: nn.Module, optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The optimiser's tensors, named by parameter, so that the file does not depend on the order of groups."""
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    return {
        f"{key}.{names[id(parameter)]}": value
        for parameter, state in optimiser.state.items()
        for key, value in state.items()
    }


def put_moments(model: nn.Module, optimiser: torch.optim.Optimizer, moments: dict[str, Tensor]) -> None:
    """The inverse of `moments_of`. The fused optimiser keeps everything, its step counters too, with the parameter."""
    parameters = dict(model.named_parameters())
    optimiser.state.clear()
    for full_name, value in moments.items():
        key, name = full_name.split(".", 1)
        optimiser.state[parameters[name]][key] = value.to(parameters[name].device, copy=True)
