"""How well a language model predicts a text: nats per token with an interval, perplexity, bits per byte."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

SAMPLES = 1000  # of the bootstrap
SEED = 12345


@dataclass(frozen=True, kw_only=True)
class Likelihood:
    """Negative log-likelihoods of all tokens but the first, in blocks that are nearly independent of each other.

    context, stride: a token was predicted from at least context - stride and at most context tokens before it.
    """

    blocks: Sequence[Sequence[float]]
    context: int
    stride: int


def summarise(found: Likelihood, *, text: str) -> dict[str, float | str]:
    """Scores over the whole text; `_low` and `_high` enclose 95 % of a bootstrap over blocks."""
    sums = np.array([sum(block) for block in found.blocks])
    counts = np.array([len(block) for block in found.blocks])
    nats = float(sums.sum() / counts.sum())
    draws = np.random.default_rng(SEED).integers(len(sums), size=(SAMPLES, len(sums)))
    means = sums[draws].sum(axis=1) / counts[draws].sum(axis=1)
    low, high = (float(value) for value in np.quantile(means, (0.025, 0.975)))
    bits = float(counts.sum()) / math.log(2) / max(1, len(text.encode()))  # per byte, for one nat per token
    scores: dict[str, float | str] = {}
    for end, value in (("", nats), ("_low", low), ("_high", high)):
        scores[f"nats{end}"] = value
        scores[f"perplexity{end}"] = math.exp(min(700.0, value))
        scores[f"bits_per_byte{end}"] = value * bits
    return {
        **scores,
        "tokens": float(counts.sum()),
        "signature": f"context {found.context}, stride {found.stride}, per token, whole text",
    }
