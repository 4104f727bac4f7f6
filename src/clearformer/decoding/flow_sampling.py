"""Pictures out of noise along a straight way: flow matching (Lipman et al., 2023; Liu et al., 2023).

A picture in noise is t · picture + (1 - t) · noise, with t from 0 to 1. Whoever predicts the clean picture from it
knows the direction in which both lie: (clean - noisy) / (1 - t).
"""

from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor

CleanPicture = Callable[[Tensor, float], Tensor]  # a noisy picture and its time -> the clean one
Seen = Callable[[float, Tensor, Tensor], None]  # a time, what is there, and what is taken for the clean picture


def unwatched(time: float, noisy: Tensor, clean: Tensor) -> None:
    """Nobody looks at the steps."""


def mix(picture: Tensor, noise: Tensor, times: Tensor) -> Tensor:
    """The picture in noise. times: B."""
    t = times.view(-1, *[1] * (picture.dim() - 1))
    return t * picture + (1 - t) * noise


def sample_flow(noise: Tensor, clean: CleanPicture, *, steps: int, seen: Seen = unwatched) -> Tensor:
    """Follow the direction in equal steps; each but the last looks at its end, too, and takes the mean (Heun's method).

    noise: where to begin, B and the picture's shape. The last step ends at what is taken for the clean picture.
    """
    if steps < 1:
        raise ValueError(f"a sampler takes at least one step, not {steps}")
    x = wanted = noise
    times = [step / steps for step in range(steps + 1)]
    for now, then in pairwise(times):
        wanted = clean(x, now)
        seen(now, x, wanted)
        if then == 1:
            break
        here = (wanted - x) / (1 - now)
        ahead = x + (then - now) * here
        there = (clean(ahead, then) - ahead) / (1 - then)
        x = x + (then - now) * (here + there) / 2
    return wanted


def guided(told: Tensor, untold: Tensor | None, weight: float) -> Tensor:
    """Away from what is said without a class, towards what is said with it (Ho and Salimans, 2022).

    weight: 0 is without the class, 1 is with it, more exaggerates. untold: not needed where the weight is 1.
    """
    if untold is None:
        return told
    return torch.lerp(untold, told, weight) if 0 <= weight <= 1 else untold + weight * (told - untold)
