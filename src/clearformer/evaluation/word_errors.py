"""Transcripts against what was said: word and character error rates, counted by `jiwer`, and whole matches.

Before they are compared, both are made comparable (`text/spoken_text.py`). Languages without spaces have no words, so
there a character is one.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clearformer.evaluation.exact_match import is_unspaced
from clearformer.text.spoken_text import english_words, is_english, plain_words

SAMPLES = 1000  # of the bootstrap


class _Compared(NamedTuple):
    """Pairs of transcripts as they are compared, and how they were made so."""

    found: list[str]
    wanted: list[str]
    signature: str


def score_transcripts(found: Sequence[str], wanted: Sequence[str]) -> dict[str, float | str]:
    """wer, cer and exact as shares, with `_low` and `_high` around 95 % of the bootstrap's samples."""
    pairs = _compared(found, wanted)
    counts = np.array([_errors(*one) for one in zip(pairs.found, pairs.wanted, strict=True)])
    draw = np.random.default_rng(12345)
    drawn = np.array([_rates(counts[draw.integers(len(counts), size=len(counts))]) for _ in range(SAMPLES)])
    low, high = np.quantile(drawn, (0.025, 0.975), axis=0)
    scores: dict[str, float | str] = {}
    for place, (name, value) in enumerate(zip(("wer", "cer", "exact"), _rates(counts), strict=True)):
        scores |= {name: float(value), f"{name}_low": float(low[place]), f"{name}_high": float(high[place])}
    scores["words"], scores["examples"] = float(counts[:, 1].sum()), float(len(counts))
    scores["signature"] = f"jiwer, {pairs.signature}; 95 % interval by {SAMPLES} bootstrap samples"
    return scores


def quick_errors(found: Sequence[str], wanted: Sequence[str]) -> dict[str, float]:
    """The rates alone, for a look during training."""
    pairs = _compared(found, wanted)
    counts = np.array([_errors(*one) for one in zip(pairs.found, pairs.wanted, strict=True)])
    return {name: float(value) for name, value in zip(("wer", "cer", "exact"), _rates(counts), strict=True)}


def _compared(found: Sequence[str], wanted: Sequence[str]) -> _Compared:
    if len(found) != len(wanted) or not wanted:
        raise ValueError(
            f"{len(found)} transcripts cannot be compared with {len(wanted)}; give as many, and at least one"
        )
    normalise: Callable[[str], str]
    if is_unspaced(wanted):
        normalise, name = (lambda text: " ".join(plain_words(text).replace(" ", ""))), "characters as words"
    elif is_english(wanted):
        normalise, name = english_words, "English normalised"
    else:
        normalise, name = plain_words, "small letters without punctuation"
    return _Compared([normalise(text) for text in found], [normalise(text) for text in wanted], name)


def _errors(found: str, wanted: str) -> tuple[int, int, int, int, int]:
    """Wrong words and words, wrong characters and characters, and whether all is right."""
    try:
        import jiwer
    except ImportError:
        raise ValueError("word error rates need jiwer: pip install 'clearformer[sound]'") from None
    if not wanted or not found:  # nothing was said, or nothing found: all there is is wrong
        words, letters = max(len(wanted.split()), len(found.split())), max(len(wanted), len(found))
    else:
        words, letters = (
            one.substitutions + one.deletions + one.insertions
            for one in (jiwer.process_words(wanted, found), jiwer.process_characters(wanted, found))
        )
    return words, len(wanted.split()), letters, len(wanted), int(found == wanted)


def _rates(counts: NDArray[np.int64]) -> tuple[float, float, float]:
    wrong_words, words, wrong_letters, letters, _ = counts.sum(axis=0)
    return wrong_words / max(words, 1), wrong_letters / max(letters, 1), float(counts[:, 4].mean())
