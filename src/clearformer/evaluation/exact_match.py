"""Answers against those that people gave: exact match and F1 by the rules of SQuAD (Rajpurkar et al., 2016).

Case, punctuation, articles and extra space do not count, and of several given answers the nearest does. Chinese and
Japanese have no spaces, so there a character is a word (as Cui et al., 2019, do).
"""

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Sequence

import numpy as np

from clearformer.text.scripts import script_of

SAMPLES = 1000  # of the bootstrap
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def score_answers(found: Sequence[str], wanted: Sequence[Sequence[str]]) -> dict[str, float | str]:
    """exact and f1 as shares of one; `_low` and `_high` enclose 95 % of the bootstrap's samples.

    found: one answer to each question, "" for none. wanted: those that people gave; none where there is no answer.
    """
    if len(found) != len(wanted) or not wanted:
        raise ValueError(f"{len(found)} answers cannot be compared with {len(wanted)}; give as many, and at least one")
    unspaced = is_unspaced([text for given in wanted for text in given])
    each = np.array([score_answer(*one, unspaced=unspaced) for one in zip(found, wanted, strict=True)])
    draw = np.random.default_rng(12345)
    means = np.array([each[draw.integers(len(each), size=len(each))].mean(axis=0) for _ in range(SAMPLES)])
    low, high = np.quantile(means, (0.025, 0.975), axis=0)
    scores: dict[str, float | str] = {}
    for place, name in enumerate(("exact", "f1")):
        scores[name] = float(each[:, place].mean())
        scores[f"{name}_low"], scores[f"{name}_high"] = float(low[place]), float(high[place])
    scores["examples"] = float(len(wanted))
    scores["signature"] = (
        f"SQuAD's normalisation, {'characters' if unspaced else 'words'}; best of the given answers; "
        f"95 % interval by {SAMPLES} bootstrap samples"
    )
    return scores


def score_answer(found: str, wanted: Sequence[str], *, unspaced: bool = False) -> tuple[float, float]:
    """Exact match (0 or 1) and F1 of one answer, each the best over the given ones."""
    said = answer_words(found, unspaced=unspaced)
    given = [answer_words(text, unspaced=unspaced) for text in wanted] or [[]]
    return max(float(said == one) for one in given), max(_f1(said, one) for one in given)


def answer_words(text: str, *, unspaced: bool = False) -> list[str]:
    """The words that count."""
    lowered = text.lower()
    if not unspaced:
        return _ARTICLES.sub(" ", lowered.translate(_PUNCTUATION)).split()
    spaced = (f" {letter} " if script_of(letter) == "Han/Kana" else letter for letter in lowered if not _mark(letter))
    return "".join(spaced).split()


def is_unspaced(texts: Sequence[str]) -> bool:
    """Whether most letters are of a script without spaces between words."""
    scripts = Counter(script_of(letter) for text in texts for letter in text)
    scripts.pop(None, None)
    return 2 * scripts["Han/Kana"] > scripts.total()


def _mark(letter: str) -> bool:
    return letter in string.punctuation or unicodedata.category(letter).startswith("P")


def _f1(found: list[str], wanted: list[str]) -> float:
    if not found or not wanted:
        return float(found == wanted)
    same = (Counter(found) & Counter(wanted)).total()
    return 2 * same / (len(found) + len(wanted))
