"""One path per row, token by token as they are chosen: the loop that greedy decoding and sampling share.

Shape letters: R unfinished rows, V vocabulary, T tokens chosen so far.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from clearformer.decoding.hypothesis import Hypothesis
from clearformer.decoding.length_limits import LengthLimits
from clearformer.decoding.protocol import S, Stepper
from clearformer.decoding.rules import Rules

# (log-probabilities R V with forbidden tokens at -inf, history R T, indices of these rows in the batch R) -> tokens R
Chooser = Callable[[Tensor, Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class TokenChoice:
    """A token the moment it is chosen. The end token is reported too: it is the last choice of its row."""

    row: int
    token: int
    log_prob: float


@torch.inference_mode()
def stream(
    stepper: Stepper[S],
    source: Any,
    choose: Chooser,
    *,
    rules: Rules,
    max_len: int | Sequence[int],
    prefixes: Sequence[Sequence[int]] | None = None,
    force_eos: bool = False,
) -> Iterator[TokenChoice]:
    """Yield every choice, step by step and within a step by row, until each row has ended or is max_len tokens long.

    force_eos: a row at its maximum length is then forced to end, as in beam search.
    """
    tokens, state = stepper.start(source)
    limits = LengthLimits.of(len(tokens), rules, max_len, prefixes)
    rows = torch.arange(len(tokens))
    history = torch.empty(len(tokens), 0, dtype=torch.int64)
    while len(rows):
        step = history.size(1)
        logits, state = stepper.step(tokens, state)
        if step == 0:
            rules.check_vocabulary(logits.size(-1))
            limits.check_vocabulary(logits.size(-1))
        log_probs = next_log_probs(logits, step)
        log_probs = rules.forbid(log_probs, history, limits.forced(rows, step, end=rules.eos if force_eos else None))
        chosen = choose(log_probs, history, rows)
        values = log_probs.gather(-1, chosen.to(log_probs.device).unsqueeze(-1)).squeeze(-1).tolist()
        for row, token, log_prob in zip(rows.tolist(), chosen.tolist(), values, strict=True):
            if log_prob == -torch.inf:
                raise ValueError(impossible(row))
            yield TokenChoice(row, token, log_prob)
        history = torch.cat([history, chosen.unsqueeze(1)], dim=1)
        going_on = chosen != rules.eos
        if step + 1 >= limits.shortest:
            going_on &= step + 1 < limits.max_len[rows] + force_eos
        if not bool(going_on.any()):
            return
        if not bool(going_on.all()):
            rows, history, chosen = rows[going_on], history[going_on], chosen[going_on]
            state = state.select(going_on.nonzero().squeeze(1).to(tokens.device))
        tokens = chosen.to(tokens.device)


def next_log_probs(logits: Tensor, step: int) -> Tensor:
    """Log-probabilities in float32 whatever the model computes in: R V. Each row is normalised by itself."""
    log_probs = logits.float().log_softmax(-1)
    if bool(log_probs[:, 0].isnan().any()):  # a single NaN or +inf, or nothing but -inf, makes its whole row NaN
        raise ValueError(f"the model returned logits that are not numbers at step {step}; its weights may be damaged")
    return log_probs


def impossible(row: int) -> str:
    """The message for a row whose allowed continuations all have probability zero."""
    return f"the model gives sentence {row} probability zero for every token that the rules and the prefix allow"


def collect(choices: Iterable[TokenChoice], rules: Rules) -> list[Hypothesis]:
    """Gather a stream into one hypothesis per row; the score is the plain log-probability."""
    by_row: dict[int, list[TokenChoice]] = {}
    for choice in choices:
        by_row.setdefault(choice.row, []).append(choice)
    return [_hypothesis(by_row[row], rules.eos) for row in sorted(by_row)]  # every row chooses at least once


def _hypothesis(choices: list[TokenChoice], eos: int) -> Hypothesis:
    log_prob = math.fsum(choice.log_prob for choice in choices)
    return Hypothesis(
        tokens=tuple(choice.token for choice in choices if choice.token != eos),
        log_prob=log_prob,
        score=log_prob,
        token_log_probs=tuple(choice.log_prob for choice in choices),
    )
