"""How much memory a run will take at its worst moment, before it takes it.

Weights, gradients and Adam's moments are counted. What the backward pass needs is measured on a single row of the
largest batch and multiplied: rows do not share activations.
"""

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from clearformer.foundation.machine import resident_bytes
from clearformer.training.checkpoint import TrainingState
from clearformer.training.loop import Loop
from clearformer.training.loss import Loss

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class MemoryForecast:
    """Bytes by purpose."""

    weights: int
    gradients: int
    moments: int  # of the optimiser
    average: int  # of the weights, where one is kept
    activations: int  # of the largest batch, until the backward pass is through
    libraries: int | None = None  # what the process held besides, when it was measured: Python, PyTorch, the text

    @property
    def total(self) -> int:
        """What the run itself takes, as it stands at the end of a forward pass."""
        return self.weights + self.gradients + self.moments + self.average + self.activations

    def __str__(self) -> str:
        parts = {
            "weights": self.weights,
            "gradients": self.gradients,
            "moments": self.moments + self.average,
            "largest batch": self.activations,
        }
        shown = ", ".join(f"{name} {_megabytes(size)}" for name, size in parts.items())
        besides = (
            "" if self.libraries is None else f", beside about {_megabytes(self.libraries)} MB for Python and PyTorch"
        )
        return f"about {_megabytes(self.total)} MB ({shown}){besides}"

    def exceeds_this_machine(self) -> bool:
        """Whether it is more than there is, as far as the system tells."""
        names = ("SC_PHYS_PAGES", "SC_PAGE_SIZE")
        if not all(name in getattr(os, "sysconf_names", {}) for name in names):
            return False
        pages, size = map(os.sysconf, names)
        return self.total + (self.libraries or 0) > pages * size


def forecast(loop: Loop[Any]) -> MemoryForecast:
    """What a run will take; its plan begins with the largest batch, so that a mistake shows at the first step."""
    largest = loop.parts.batch_at(0)
    replicas = 1 if loop.replicas is None else len(loop.replicas.generators)
    row = _gone_on(loop, largest.take(slice(0, 1)))
    found = estimate(loop.training, partial(loop.parts.loss, loop.training.model, row), len(largest), replicas)
    if found.exceeds_this_machine():
        log.warning("that is more than this machine has; lower training.batch_tokens and raise training.accumulate")
    return found


@torch.no_grad()
def _gone_on(loop: Loop[Any], row: Any) -> Any:
    """A row with as much as any row remembers of the batches before, where rows go on."""
    follow, left, size = loop.parts.follow, None, -1
    while follow is not None:
        found = loop.parts.loss(loop.training.model, row if left is None else follow(row, left, 1)).left
        if found is None or found.numel() == size:
            break
        left, size = found, found.numel()
    return row if follow is None or left is None else follow(row, left, 1)


def estimate(
    training: TrainingState, loss_of_one_row: Callable[[], Loss], rows: int, replicas: int = 1
) -> MemoryForecast:
    """loss_of_one_row: the loss of one row of the largest batch, which has so many rows. Each replica has gradients."""
    model = training.model
    weights = sum(map(_bytes, [*model.parameters(), *model.buffers()]))
    resident = resident_bytes()  # the weights are there already
    trained = sum(_bytes(p) for p in model.parameters() if p.requires_grad)
    return MemoryForecast(
        weights=weights,
        gradients=replicas * trained,
        moments=2 * trained,  # Adam's; Muon has one for a matrix
        average=0 if training.ema is None else sum(map(_bytes, training.ema.weights.values())),
        activations=rows * kept_for_backward(model, loss_of_one_row),
        libraries=None if resident is None else max(0, resident - weights),
    )


def kept_for_backward(model: nn.Module, forward: Callable[[], Loss]) -> int:
    """The bytes that a forward pass leaves for the backward pass, and those that this begins with.

    The largest piece, the log-probabilities of a vocabulary, has three companions of its size for a moment: its
    gradient by each of the two ways it is used, and the gradient of the logits that it was made from.
    """
    own = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    kept: dict[int, int] = {}
    alive: list[Tensor] = []  # or a later tensor could be given the memory of an earlier one, and be missed

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage.nbytes()
            alive.append(tensor)
        return tensor

    statistics = [buffer.clone() for buffer in model.buffers()]
    model.train()
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        forward()
    for buffer, before in zip(model.buffers(), statistics, strict=True):
        buffer.copy_(before)  # looking must not change a running mean
    return sum(kept.values()) + 3 * max(kept.values(), default=0)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.0f}"


def _bytes(tensor: Tensor) -> int:
    return tensor.numel() * tensor.element_size()
