"""How long a run will take, before it starts: a few steps are rehearsed, timed and undone.

Steps are functions of the weights and of the position in the data plan alone, so that taking the weights back leaves no
trace: the run that follows is bit for bit the one that would have been.
"""

import time
from copy import deepcopy
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from clearformer.model.weights import put_weights, weights_of
from clearformer.training.checkpoint import moments_of, put_moments
from clearformer.training.loop import Loop, TrainingConfig

WARM = 1  # steps that fill caches and are not counted
TIMED = 3
LOOKS = 2  # validations per minute, at the most
SPARE = 0.9  # of the time that somebody gives: validation and saving want some


def seconds_per_step(loop: Loop[Any]) -> float:
    """The mean time of a few updates, after which the model, its optimiser and the progress are as before."""
    training = loop.training
    kept, progress = _copied(weights_of(training.model)), deepcopy(training.progress)
    moments = _copied(moments_of(training.model, training.optimiser))
    average = None if training.ema is None else _copied(training.ema.weights)
    rates, left = [group["lr"] for group in training.optimiser.param_groups], training.left
    started = time.perf_counter()
    for step in range(WARM + TIMED):
        if step == WARM:
            started = time.perf_counter()
        loop.update()
    taken = (time.perf_counter() - started) / TIMED
    put_weights(training.model, kept)
    torch.autograd.graph.increment_version(list(training.model.parameters()))
    if training.ema is not None and average is not None:
        training.ema.put(average)
    put_moments(training.model, training.optimiser, moments)
    for group, rate in zip(training.optimiser.param_groups, rates, strict=True):
        group["lr"] = rate
    training.progress, training.left = progress, left
    return taken


def _copied(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.clone() for name, tensor in tensors.items()}


def fitted(config: TrainingConfig, minutes: float, step_seconds: float) -> TrainingConfig:
    """The same training in another time: no more validations and checkpoints, and a warm-up of the same share."""
    if minutes <= 0:
        raise ValueError(f"--minutes must be above 0, not {minutes:g}")
    steps = max(10, int(SPARE * 60 * minutes / step_seconds))

    most = max(2, round(LOOKS * minutes))  # a short run must not spend its time on looking

    def scaled(every: int) -> int:
        return max(1, round(every * steps / config.steps), steps // most)

    warmup = config.schedule.warmup_steps(config.steps) / config.steps
    return replace(
        config,
        steps=steps,
        save_every=scaled(config.save_every),
        validate_every=scaled(config.validate_every),
        log_every=max(1, min(config.log_every, steps // 10)),
        schedule=replace(config.schedule, warmup=min(0.5, max(warmup, 1 / steps))),
    )


def in_words(seconds: float) -> str:
    """A time as people say it."""
    if seconds < 90:
        whole = max(1, round(seconds))
        return f"{whole} second{'s' if whole > 1 else ''}"
    minutes = seconds / 60
    return f"{minutes:.0f} minutes" if minutes < 120 else f"{minutes / 60:.1f} hours"
