"""How well hidden words are found: nats per word and accuracy, each with an interval."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

SAMPLES = 1000  # of the bootstrap
SEED = 12345


def summarise_words(
    nats: Sequence[NDArray[np.float64]], right: Sequence[NDArray[np.bool_]], *, pieces: int
) -> dict[str, float | str]:
    """nats, right: of each word, by row of text. `_low` and `_high` enclose 95 % of a bootstrap over rows.

    Words of one row share their context, so rows are drawn and not words: an interval over words would be too narrow.
    """
    counts = np.array([len(row) for row in nats], dtype=float)
    if not counts.sum():
        raise ValueError("there are no words to hide in this text; give a text with at least one")
    draws = np.random.default_rng(SEED).integers(len(counts), size=(SAMPLES, len(counts)))
    scores: dict[str, float | str] = {}
    for name, rows in (("nats", nats), ("accuracy", right)):
        sums = np.array([float(row.sum()) for row in rows])
        drawn = sums[draws].sum(axis=1) / np.maximum(1.0, counts[draws].sum(axis=1))
        low, high = (float(value) for value in np.quantile(drawn, (0.025, 0.975)))
        mean = float(sums.sum() / counts.sum())
        scores |= {name: mean, f"{name}_low": min(low, mean), f"{name}_high": max(high, mean)}
    return {
        **scores,
        "perplexity": math.exp(min(700.0, float(scores["nats"]))),
        "nats_per_token": float(scores["nats"]) * float(counts.sum()) / max(1, pieces),
        "words": float(counts.sum()),
        "tokens": float(pieces),
        "unit": "masked word",
    }
