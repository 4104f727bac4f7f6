"""Greedy decoding that guesses: where a text repeats itself, what followed last time is tried, and checked in one step.

A step of a large model waits for its weights, and reads them once for one token or for several. So a few tokens that
followed the same words earlier in the text are fed together with the last one; as far as they are what greedy decoding
would have chosen, they are taken (Saxena, 2023; Leviathan et al., 2023). The text is the same, token by token. Copying
from a document gets several times faster, and other texts no slower: a guess that fails makes the next one shorter.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

from clearformer.decoding.length_limits import LengthLimits
from clearformer.decoding.logits import Transform
from clearformer.decoding.rules import Rules
from clearformer.decoding.stream import TokenChoice, impossible, next_log_probs

MATCH = 3  # last tokens that must have stood together before; fewer are found too often by chance


class Checker(Protocol):
    """A model that can be fed several tokens of one text, and forget the last of them again."""

    def start(self, source: Sequence[Sequence[int]]) -> tuple[Tensor, Any]: ...

    def check(self, tokens: Sequence[int], state: Any) -> Tensor:
        """Feed tokens to the only row; the logits of what follows each of them, T V."""
        ...

    def forget(self, count: int, state: Any) -> None:
        """Take the last tokens back."""
        ...


@torch.inference_mode()
def stream_lookup(
    stepper: Checker,
    source: Sequence[Sequence[int]],
    *,
    rules: Rules,
    max_len: int,
    most: int,
    transforms: Sequence[Transform] = (),
) -> Iterator[TokenChoice]:
    """What `stream_greedy` yields for one prompt. most: tokens to guess at a time."""
    [prompt] = source
    first, state = stepper.start(source)
    LengthLimits.of(1, rules, max_len, None)  # refuses what greedy decoding refuses
    text, last, reach = list(prompt), int(first[0]), most
    while True:
        guess = find_continuation(text, min(reach, max_len - (len(text) - len(prompt)) - 1))
        logits = stepper.check([last, *guess], state)
        for place, expected in enumerate([*guess, None]):  # behind the last guess stands a token that is free
            history = torch.tensor([text[len(prompt) :]], dtype=torch.int64)
            if not history.numel():
                rules.check_vocabulary(logits.size(-1))
            last, log_prob = _choose(logits[place : place + 1], history, rules, transforms)
            text.append(last)
            wrong = expected is not None and last != expected
            if wrong:
                stepper.forget(len(guess) - place, state)
            yield TokenChoice(0, last, log_prob)
            if last == rules.eos or len(text) - len(prompt) >= max_len:
                return
            if wrong:
                break
        reach = max(1, place) if wrong else min(most, 2 * reach)


def find_continuation(text: Sequence[int], most: int) -> list[int]:
    """What followed the last tokens where they stood before, the latest time; nothing where they did not."""
    if most < 1 or len(text) <= MATCH:
        return []
    wanted = list(text[-MATCH:])
    for place in range(len(text) - MATCH - 1, -1, -1):
        if text[place + MATCH - 1] == wanted[-1] and list(text[place : place + MATCH]) == wanted:
            return list(text[place + MATCH : place + MATCH + most])
    return []


def _choose(logits: Tensor, history: Tensor, rules: Rules, transforms: Sequence[Transform]) -> tuple[int, float]:
    log_probs = rules.forbid(next_log_probs(logits, history.size(1)), history, None)
    scores = log_probs
    for transform in transforms:
        scores = transform(scores, history)
    token = int(scores.argmax(-1))
    log_prob = float(log_probs[0, token])
    if log_prob == -torch.inf:
        raise ValueError(impossible(0))
    return token, log_prob
