"""How well a language model predicts a text: nats per token with an interval, perplexity, bits per byte."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clearformer.evaluation.exact_match import is_unspaced

SAMPLES = 1000  # of the bootstrap
SEED = 12345
_A_LOOK = 100_000  # characters that show whether a text has spaces between its words


@dataclass(frozen=True, kw_only=True)
class Likelihood:
    """Negative log-likelihoods of all tokens but the first, in blocks that are nearly independent of each other.

    context, stride: a token was predicted from at least context - stride and at most context tokens before it, and,
    with a memory, from the states of so many tokens before these.
    """

    blocks: Sequence[Sequence[float]]
    context: int
    stride: int
    memory: int = 0

    @property
    def read(self) -> str:
        """How the text was read, in a few words."""
        return f"context {self.context}, " + (f"memory {self.memory}" if self.memory else f"stride {self.stride}")


def summarise(found: Likelihood, *, text: str) -> dict[str, float | str]:
    """Scores over the whole text; `_low` and `_high` enclose 95 % of a bootstrap over blocks.

    Perplexity is given per token, which depends on the vocabulary, and per word, which does not: all nats of the text
    by the number of its words and line ends, as WikiText is scored. A text without spaces has no such words.
    """
    sums = np.array([sum(block) for block in found.blocks])
    counts = np.array([len(block) for block in found.blocks])
    nats = float(sums.sum() / counts.sum())
    draws = np.random.default_rng(SEED).integers(len(sums), size=(SAMPLES, len(sums)))
    means = sums[draws].sum(axis=1) / counts[draws].sum(axis=1)
    low, high = (float(value) for value in np.quantile(means, (0.025, 0.975)))
    tokens, words = float(counts.sum()), count_words(text)
    bits = tokens / math.log(2) / max(1, len(text.encode()))  # per byte, for one nat per token
    scores: dict[str, float | str] = {}
    for end, value in (("", nats), ("_low", low), ("_high", high)):
        scores[f"nats{end}"] = value
        scores[f"perplexity{end}"] = _perplexity(value)
        if words:
            scores[f"perplexity_per_word{end}"] = _perplexity(value * tokens / words)
        scores[f"bits_per_byte{end}"] = value * bits
    counted = "; a word is what stands between spaces, or a line end" if words else ""
    return {
        **scores,
        "tokens": tokens,
        **({"words": float(words)} if words else {}),
        "signature": f"{found.read}, per token, whole text{counted}",
    }


def count_words(text: str) -> int:
    """Words between spaces and line ends, as the published counts have it; 0 for a script without spaces."""
    return 0 if is_unspaced([text[:_A_LOOK]]) else len(text.split()) + text.count("\n")


def _perplexity(nats: float) -> float:
    return math.exp(min(700.0, nats))
