"""A training run on disk that can be killed at any moment and go on as if nothing had happened.

Everything that the next step depends on is here: weights, optimiser moments, the moving average, and a few numbers.
Data order and dropout are functions of (seed, position), so their state is a position.
"""

import json
import logging
import re
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from clearformer import storage
from clearformer.model.weights import put_weights, weights_of
from clearformer.training.optimiser import MovingAverage

log = logging.getLogger(__name__)


@dataclass
class Progress:
    """How far a run is. Floats survive JSON exactly: Python writes the shortest text that reads back the same."""

    step: int = 0  # updates made
    position: int = 0  # micro-batches taken from the plan; ahead of steps × accumulation after a rollback
    skipped: int = 0  # updates refused because the loss was not a number or far too large
    skipped_in_a_row: int = 0
    rollbacks: int = 0
    tokens: int = 0
    smooth_loss: float | None = None  # a running mean: what a spike is measured against
    best: float | None = None
    best_step: int = 0
    stale: int = 0  # validations since the best one
    window: dict[str, float] = field(default_factory=dict)  # sums since the last log line


@dataclass
class Training:
    """The parts of a run that change from step to step."""

    model: nn.Module
    optimiser: torch.optim.Optimizer
    progress: Progress
    ema: MovingAverage | None = None

    def save(self, folder: Path) -> None:
        """Write a checkpoint, whole or not at all."""
        with storage.new_folder(folder) as aside:
            save_file(weights_of(self.model), aside / "model.safetensors")
            save_file(moments_of(self.model, self.optimiser), aside / "optimiser.safetensors")
            if self.ema is not None:
                save_file({name: w.contiguous() for name, w in self.ema.weights.items()}, aside / "ema.safetensors")
            storage.write_json(aside / "progress.json", asdict(self.progress))

    def load(self, folder: Path) -> None:
        """Take everything back from a checkpoint, after checking it."""
        storage.verify(folder)
        put_weights(self.model, load_file(folder / "model.safetensors"))
        put_moments(self.model, self.optimiser, load_file(folder / "optimiser.safetensors"))
        if self.ema is not None:
            self.ema.weights = load_file(folder / "ema.safetensors")
        self.progress = read_progress(folder)


class Checkpoints:
    """The checkpoints of a run: `<step>/` folders, the newest few and the best one kept."""

    def __init__(self, folder: Path, keep: int) -> None:
        self.folder, self.keep = folder, keep
        folder.mkdir(parents=True, exist_ok=True)
        storage.sweep(folder)

    def steps(self) -> list[int]:
        """Steps that have a checkpoint, oldest first."""
        return sorted(int(path.name) for path in self.folder.iterdir() if re.fullmatch(r"\d+", path.name))

    def path(self, step: int) -> Path:
        """Where the checkpoint of a step is."""
        return self.folder / f"{step:08d}"

    def save(self, training: Training, *, best: bool = False) -> Path:
        """Write a checkpoint, then let old ones go."""
        path = self.path(training.progress.step)
        training.save(path)
        if best:
            storage.point(self.folder / "best", path)
        spared = {training.progress.best_step, *self.steps()[-self.keep :]}
        for step in self.steps():
            if step not in spared:
                shutil.rmtree(self.path(step))
        return path

    def load_newest(self, training: Training) -> int | None:
        """Go on from the newest checkpoint that is whole; returns its step, or None if there is none.

        A damaged one is named and passed over: an older one leads to the same result, only later.
        """
        for step in reversed(self.steps()):
            try:
                training.load(self.path(step))
            except (storage.DamagedError, OSError) as error:
                log.error("%s; going on from the checkpoint before it", error)
                continue
            return step
        return None


def moments_of(model: nn.Module, optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The optimiser's tensors, named by parameter, so that the file does not depend on the order of groups."""
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    return {
        f"{key}.{names[id(parameter)]}": value.contiguous()
        for parameter, state in optimiser.state.items()
        for key, value in state.items()
    }


def put_moments(model: nn.Module, optimiser: torch.optim.Optimizer, moments: dict[str, Tensor]) -> None:
    """The inverse of `moments_of`."""
    parameters = dict(model.named_parameters())
    optimiser.state.clear()
    for full_name, value in moments.items():
        key, name = full_name.split(".", 1)
        # Adam's step counters stay on the CPU; everything else lives with its parameter.
        optimiser.state[parameters[name]][key] = value if key == "step" else value.to(parameters[name].device)


def read_progress(folder: Path) -> Progress:
    """How far a checkpoint is."""
    values: dict[str, Any] = json.loads((folder / "progress.json").read_text(encoding="utf-8"))
    return Progress(**values)
