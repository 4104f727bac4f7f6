"""Seconds of training for small networks: the package's optimiser and schedule, and nothing that would rescue a run.

The loop of `training/` refuses steps that explode and goes back to a checkpoint; here one wants to see the explosion.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from clearformer.training.optimiser import OptimiserConfig, make_optimiser
from clearformer.training.schedule import ScheduleConfig, make_schedule


@dataclass(frozen=True, kw_only=True)
class SmallRun:
    """How long and how fast. clip: largest norm of the gradient, 0 for any."""

    steps: int
    peak: float = 2e-3
    warmup: int = 20
    clip: float = 1.0


def train_small(model: nn.Module, loss_of: Callable[[nn.Module], Tensor], run: SmallRun) -> list[float]:
    """Train; `loss_of` makes a batch of its own each time. Returns the loss of every step."""
    optimiser = make_optimiser(model, OptimiserConfig(beta2=0.99))
    schedule = ScheduleConfig(kind="linear", peak=run.peak, warmup=run.warmup)
    rate = make_schedule(schedule, dim=1, steps=run.steps)
    losses = []
    model.train()
    for step in range(1, run.steps + 1):
        loss = loss_of(model)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        if run.clip:
            nn.utils.clip_grad_norm_(model.parameters(), run.clip)
        for group in optimiser.param_groups:
            group["lr"] = rate(step)
        optimiser.step()
        losses.append(loss.item())
        if not torch.isfinite(loss):
            return losses + [float("nan")] * (run.steps - step)
    model.eval()
    return losses
