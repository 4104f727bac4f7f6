"""Greedy decoding: at every step the likeliest token; of ties, the one with the lowest id."""

from collections.abc import Iterator, Sequence
from typing import Any

from torch import Tensor

from clearformer.decoding.hypothesis import Hypothesis
from clearformer.decoding.logits import Transform
from clearformer.decoding.protocol import S, Stepper
from clearformer.decoding.rules import Rules
from clearformer.decoding.stream import TokenChoice, collect, stream


def stream_greedy(
    stepper: Stepper[S],
    source: Any,
    *,
    rules: Rules,
    max_len: int | Sequence[int],
    prefixes: Sequence[Sequence[int]] | None = None,
    transforms: Sequence[Transform] = (),
    force_eos: bool = False,
) -> Iterator[TokenChoice]:
    """Yield the choices as they are made. Of the transforms only a repetition penalty can change which is likeliest."""

    def choose(log_probs: Tensor, history: Tensor, rows: Tensor) -> Tensor:
        for transform in transforms:
            log_probs = transform(log_probs, history)
        return log_probs.argmax(-1).cpu()  # of ties the first, which has the lowest id

    return stream(stepper, source, choose, rules=rules, max_len=max_len, prefixes=prefixes, force_eos=force_eos)


def greedy(
    stepper: Stepper[S],
    source: Any,
    *,
    rules: Rules,
    max_len: int | Sequence[int],
    prefixes: Sequence[Sequence[int]] | None = None,
    transforms: Sequence[Transform] = (),
    force_eos: bool = False,
) -> list[Hypothesis]:
    """One hypothesis per sentence."""
    choices = stream_greedy(
        stepper,
        source,
        rules=rules,
        max_len=max_len,
        prefixes=prefixes,
        transforms=transforms,
        force_eos=force_eos,
    )
    return collect(choices, rules)
