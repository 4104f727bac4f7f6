"""Codes for a fixed number of places, by two orders: from left to right, or the surest first (Chang et al., 2022).

Both see a model as a function from the codes so far to logits for every place: B T -> B T V. What is drawn comes from
`Gumbel`, which gives every picture numbers of its own, so that a picture does not depend on its company.
"""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

Logits = Callable[[Tensor], Tensor]
SeenCodes = Callable[[Tensor], None]  # the codes so far, B T; what is not there yet is `hidden`
LEAST = 1e-20


class Gumbel:
    """Noise whose largest sum with logits is a draw from their softmax. One generator per picture."""

    def __init__(self, seeds: Sequence[tuple[int, ...]]) -> None:
        self._generators = [np.random.default_rng(seed) for seed in seeds]

    def draw(self, *shape: int) -> Tensor:
        """So many numbers for each picture: B and the shape."""
        even = np.stack([generator.random(shape, dtype=np.float32) for generator in self._generators])
        waits = -torch.from_numpy(even).clamp(min=LEAST).log()
        return -waits.clamp(min=LEAST).log()


def choose(logits: Tensor, noise: Tensor, temperature: float) -> Tensor:
    """A code for each row of logits; at temperature 0 the likeliest. Shapes: … V -> …"""
    return (logits if temperature == 0 else logits / temperature + noise).argmax(dim=-1)


def write_places(
    logits: Logits, noise: Gumbel, *, count: int, places: int, start: int, temperature: float, seen: SeenCodes
) -> Tensor:
    """One place after the other. count: B; start: the code that stands before the first place. Returns B T."""
    codes = torch.full((count, places + 1), start)
    for place in range(places):
        row = logits(codes[:, :-1])[:, place]
        codes[:, place + 1] = choose(row, noise.draw(row.size(-1)), temperature)
        seen(codes[:, 1:])
    return codes[:, 1:]


def fill_places(
    logits: Logits,
    noise: Gumbel,
    *,
    count: int,
    places: int,
    hidden: int,
    steps: int,
    temperature: float,
    seen: SeenCodes,
) -> Tensor:
    """All places begin hidden; in each step the surest of what is guessed stays, along a cosine (Chang et al., 2022).

    How sure a guess is gets noise that fades away, or the same places would come first in every picture. Every place is
    filled exactly once.
    """
    codes = torch.full((count, places), hidden)
    for step, kept in enumerate(fill_plan(places, steps)):
        found = logits(codes)
        guessed = choose(found, noise.draw(places, found.size(-1)), temperature)
        sure = found.log_softmax(-1).gather(-1, guessed[..., None])[..., 0]
        sure = sure + temperature * (1 - (step + 1) / steps) * noise.draw(places)
        sure = sure.masked_fill(codes != hidden, -math.inf)
        chosen = sure.argsort(dim=-1, descending=True, stable=True)[:, :kept]
        codes = codes.scatter(1, chosen, guessed.gather(1, chosen))
        seen(codes)
    return codes


def fill_plan(places: int, steps: int) -> list[int]:
    """How many places are filled in each step: few at first, when little is known; none is left over."""
    if not 1 <= steps <= places:
        raise ValueError(f"{places} places are filled in 1 to {places} steps, not {steps}")
    left = [math.ceil(places * math.cos(math.pi / 2 * step / steps)) for step in range(steps)] + [0]
    for step in range(1, steps):  # at least one in each, and enough for those that follow
        left[step] = max(min(left[step], left[step - 1] - 1), steps - step)
    return [before - after for before, after in pairwise(left)]
