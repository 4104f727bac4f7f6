"""Sampling: each token drawn from the model's distribution, reshaped by transforms, with one random stream per row.

A row's random numbers come from its own seed alone, so its text does not depend on the other rows of the batch, on its
place among them or on when they finish. Python's generator is used because its sequence for a given seed is guaranteed
not to change, and is the same on every device.
"""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import torch
from torch import Tensor

from clearformer.decoding.hypothesis import Hypothesis
from clearformer.decoding.logits import Transform
from clearformer.decoding.protocol import S, Stepper
from clearformer.decoding.rules import Rules
from clearformer.decoding.stream import TokenChoice, collect, stream


def stream_sample(
    stepper: Stepper[S],
    source: Any,
    *,
    rules: Rules,
    max_len: int | Sequence[int],
    seeds: Sequence[int],
    prefixes: Sequence[Sequence[int]] | None = None,
    transforms: Sequence[Transform] = (),
) -> Iterator[TokenChoice]:
    """Yield the choices as they are made. seeds: one per row; rows with the same seed draw the same numbers."""
    if any(seed < 0 for seed in seeds):
        raise ValueError(f"a sampling seed is {min(seeds)}; seeds must not be negative")
    generators = [Random(seed) for seed in seeds]

    def choose(log_probs: Tensor, history: Tensor, rows: Tensor) -> Tensor:
        if len(generators) <= int(rows.max()):
            raise ValueError(
                f"there are {len(generators)} seeds for at least {int(rows.max()) + 1} rows; give one per row"
            )
        for transform in transforms:
            log_probs = transform(log_probs, history)
        uniform = torch.tensor([generators[row].random() for row in rows.tolist()], dtype=torch.float64)
        return draw(log_probs, uniform)

    return stream(stepper, source, choose, rules=rules, max_len=max_len, prefixes=prefixes)


def sample(
    stepper: Stepper[S],
    source: Any,
    *,
    rules: Rules,
    max_len: int | Sequence[int],
    seeds: Sequence[int],
    prefixes: Sequence[Sequence[int]] | None = None,
    transforms: Sequence[Transform] = (),
) -> list[Hypothesis]:
    """One sample per row. Its log-probability is the model's own, not that of the reshaped distribution."""
    choices = stream_sample(
        stepper, source, rules=rules, max_len=max_len, seeds=seeds, prefixes=prefixes, transforms=transforms
    )
    return collect(choices, rules)


def draw(log_probs: Tensor, uniform: Tensor) -> Tensor:
    """Invert the cumulative distribution of each row (R V) at `uniform` (R, in [0, 1)): token ids R, on the CPU.

    In float64 and on the CPU, so that the same number picks the same token everywhere.
    """
    cumulative = log_probs.cpu().double().softmax(-1).cumsum(-1)
    total = cumulative[:, -1:]
    # "right" skips tokens of probability zero, whose cumulated value equals their predecessor's.
    token = torch.searchsorted(cumulative, uniform.unsqueeze(-1) * total, right=True)
    last_possible = (cumulative < total).sum(-1, keepdim=True)  # where uniform * total rounds up to the total
    return torch.minimum(token, last_possible).squeeze(-1)
