"""ROUGE: how many words of a summary by people a model's summary has, as single words, pairs, and in order (Lin, 2004).

F1, with Porter's stems, as the `rouge-score` package counts with `use_stemmer`, which is what published numbers mostly
are. Chinese and Japanese have no spaces, so there a character is a word. Of several given summaries the nearest counts.
"""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clearformer.evaluation.exact_match import is_unspaced
from clearformer.evaluation.porter import stem
from clearformer.text.scripts import script_of

NAMES = ("rouge_1", "rouge_2", "rouge_l")
SAMPLES = 1000  # of the bootstrap
_WORDS = re.compile(r"[^\W_]+")


def rouge_words(text: str) -> list[str]:
    """The words that count: letters and digits, small, of more than three letters the stem alone."""
    spaced = (
        text if text.isascii() else "".join(f" {one} " if script_of(one) == "Han/Kana" else one for one in text)
    ).lower()
    return [stem(word) if len(word) > 3 and word.isascii() else word for word in _WORDS.findall(spaced)]


def score_summary(found: str, wanted: Sequence[str]) -> tuple[float, float, float]:
    """ROUGE-1, ROUGE-2 and ROUGE-L of one summary as shares of one, each the best over the given ones."""
    said = rouge_words(found)
    one, two, ordered = zip(*(_against(said, rouge_words(text)) for text in wanted), strict=True)
    return max(one), max(two), max(ordered)


def score_summaries(found: Sequence[str], wanted: Sequence[Sequence[str]]) -> dict[str, float | str]:
    """The three as numbers up to 100, with `_low` and `_high` around 95 % of the bootstrap's samples."""
    each = each_summary(found, wanted)
    draw = np.random.default_rng(12345)
    means = np.array([each[draw.integers(len(each), size=len(each))].mean(axis=0) for _ in range(SAMPLES)])
    low, high = np.quantile(means, (0.025, 0.975), axis=0)
    scores: dict[str, float | str] = {}
    for place, name in enumerate(NAMES):
        scores[name] = float(each[:, place].mean())
        scores[f"{name}_low"], scores[f"{name}_high"] = float(low[place]), float(high[place])
    scores["examples"] = float(len(wanted))
    counted = "characters" if is_unspaced([text for given in wanted for text in given]) else "words, Porter's stems"
    scores["signature"] = f"F1, {counted}; 95 % interval by {SAMPLES} bootstrap samples"
    return scores


def quick_rouge(found: Sequence[str], wanted: Sequence[Sequence[str]]) -> dict[str, float]:
    """The means alone, for a look during training."""
    means = each_summary(found, wanted).mean(axis=0)
    return {name: float(mean) for name, mean in zip(NAMES, means, strict=True)}


def each_summary(found: Sequence[str], wanted: Sequence[Sequence[str]]) -> NDArray[np.float64]:
    """N 3: the three scores of every summary, up to 100."""
    if len(found) != len(wanted) or not wanted or not all(wanted):
        raise ValueError(
            f"{len(found)} summaries cannot be compared with {len(wanted)}; give as many, and at least one"
        )
    return 100 * np.array([score_summary(*one) for one in zip(found, wanted, strict=True)])


def _against(said: list[str], given: list[str]) -> tuple[float, float, float]:
    one, two = (_f1(_overlap(said, given, size), len(said) - size + 1, len(given) - size + 1) for size in (1, 2))
    return one, two, _f1(common_length(said, given), len(said), len(given))


def _overlap(said: list[str], given: list[str], size: int) -> int:
    """How many runs of so many words are in both, each as often as in the one that has fewer."""
    runs = (Counter(zip(*(words[start:] for start in range(size)), strict=False)) for words in (said, given))
    first, second = runs
    return (first & second).total()


def common_length(said: Sequence[str], given: Sequence[str]) -> int:
    """The longest common subsequence: words in the same order, with gaps."""
    best = [0] * (len(given) + 1)
    for word in said:
        before = 0  # what stood diagonally above
        for place, other in enumerate(given, start=1):
            above = best[place]
            best[place] = before + 1 if word == other else max(above, best[place - 1])
            before = above
    return best[-1]


def _f1(same: int, said: int, given: int) -> float:
    return 2 * same / (said + given) if same else 0.0
