"""The loop of a run, and what is said before it starts: how much memory it takes, and how long."""

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

from clearformer.folder.bundle import Bundle
from clearformer.run import pace
from clearformer.run.recipe import Recipe
from clearformer.training.distributed import Ranks
from clearformer.training.loop import Loop, LoopParts
from clearformer.training.memory_forecast import forecast
from clearformer.training.schedule import make_schedule

log = logging.getLogger(__name__)


def make_loop(recipe: Recipe, made: Bundle, parts: LoopParts[Any], out: Path, ranks: Ranks) -> Loop[Any]:
    """The loop that a recipe describes."""
    schedule = make_schedule(recipe.training.schedule, dim=made.config.dim, steps=recipe.training.steps)
    return Loop(made.model, parts, recipe.training, schedule, out, ranks)


def size_in_words(made: Bundle) -> str:
    """What was really built: a small text gives fewer tokens than its vocabulary may have."""
    parameters = list(made.model.parameters())
    total, learn = (
        sum(one.numel() for one in some) for some in (parameters, (p for p in parameters if p.requires_grad))
    )
    told = [f"{total:,} parameters"]
    if learn < total:
        told.append(f"{learn:,} of them learn")
    tokens = dict.fromkeys(size for size in (made.config.vocab_size, made.config.target_vocab_size) if size)
    if tokens:
        told.append(f"vocabulary of {' and '.join(f'{size:,}' for size in tokens)} tokens")
    return ", ".join(told)


def foresee(loop: Loop[Any], recipe: Recipe, minutes: float | None) -> Recipe:
    """Say what the run will take; returns the recipe, with another number of steps if a time is given."""
    log.info("memory: %s", forecast(loop))
    seconds = loop.ranks.share(pace.seconds_per_step(loop))
    if minutes is not None:
        recipe = replace(recipe, training=pace.fitted(recipe.training, minutes, seconds))
    steps = recipe.training.steps
    log.info("time: %s steps, about %s without validation", f"{steps:,}", pace.in_words(steps * seconds))
    return recipe
