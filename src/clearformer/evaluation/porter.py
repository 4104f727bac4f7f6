"""Porter's stemmer (1980): English words without their endings, so that "scheduled" and "schedules" are one word.

With the departures that NLTK makes by default, which is what the `rouge-score` package, and so the published numbers,
use. Words of one or two letters stay as they are.
"""

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise

VOWELS = "aeiou"
Rule = tuple[str, str, Callable[[str], bool] | None]  # ending, what takes its place, what has to hold of the stem
IRREGULAR = {
    form: stem
    for stem, forms in {
        "sky": "sky skies", "die": "dying", "lie": "lying", "tie": "tying", "news": "news", "inning": "innings inning",
        "outing": "outings outing", "canning": "cannings canning", "howe": "howe", "proceed": "proceed",
        "exceed": "exceed", "succeed": "succeed",
    }.items()
    for form in forms.split()
}  # fmt: skip


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """A word in small letters without its ending."""
    if word in IRREGULAR:
        return IRREGULAR[word]
    if len(word) <= 2:
        return word
    for step in (_plurals, _past, _final_y, _double_endings, _longer_endings, _last_endings, _final_e, _final_l):
        word = step(word)
    return word


def _is_consonant(word: str, place: int) -> bool:
    """y is a consonant at the start and after a vowel."""
    if word[place] in VOWELS:
        return False
    return word[place] != "y" or place == 0 or not _is_consonant(word, place - 1)


def _measure(start: str) -> int:
    """m: how often a vowel is followed by a consonant."""
    kinds = [_is_consonant(start, place) for place in range(len(start))]
    return sum(after and not before for before, after in pairwise(kinds))


def _some(start: str) -> bool:
    return _measure(start) > 0


def _more(start: str) -> bool:
    return _measure(start) > 1


def _has_vowel(start: str) -> bool:
    return any(not _is_consonant(start, place) for place in range(len(start)))


def _doubled(word: str) -> bool:
    return len(word) >= 2 and word[-1] == word[-2] and _is_consonant(word, len(word) - 1)


def _short(word: str) -> bool:
    """Ends as in hop, or is two letters as in at; the last is not w, x or y."""
    size = len(word)
    if size == 2:
        return not _is_consonant(word, 0) and _is_consonant(word, 1)
    kinds = [_is_consonant(word, size - back) for back in (3, 2, 1)] if size >= 3 else []
    return kinds == [True, False, True] and word[-1] not in "wxy"


def _apply(word: str, *rules: Rule) -> str:
    """The first ending that fits decides, whether or not its condition holds."""
    for ending, instead, holds in rules:
        if word.endswith(ending):
            start = word.removesuffix(ending) if ending else word
            return start + instead if holds is None or holds(start) else word
    return word


def _plurals(word: str) -> str:
    if word.endswith("ies") and len(word) == 4:
        return word.removesuffix("s")
    return _apply(word, ("sses", "ss", None), ("ies", "i", None), ("ss", "ss", None), ("s", "", None))


def _past(word: str) -> str:
    if word.endswith("ied"):
        return word.removesuffix("ied") + ("ie" if len(word) == 4 else "i")
    if word.endswith("eed"):
        return _apply(word, ("eed", "ee", _some))
    for ending in ("ed", "ing"):
        start = word.removesuffix(ending)
        if start != word and _has_vowel(start):
            break
    else:
        return word
    if start.endswith(("at", "bl", "iz")):
        return start + "e"
    if _doubled(start):
        return start if start[-1] in "lsz" else start[:-1]
    return start + "e" if _measure(start) == 1 and _short(start) else start


def _final_y(word: str) -> str:
    return _apply(word, ("y", "i", lambda start: len(start) > 1 and _is_consonant(start, len(start) - 1)))


def _double_endings(word: str) -> str:
    if word.endswith("alli") and _some(word.removesuffix("alli")):
        return _double_endings(word.removesuffix("alli") + "al")
    pairs = (
        ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("bli", "ble"),
        ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"),
        ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"),
        ("iviti", "ive"), ("biliti", "ble"), ("fulli", "ful"),
    )  # fmt: skip
    rules: list[Rule] = [(ending, instead, _some) for ending, instead in pairs]
    return _apply(word, *rules, ("logi", "log", lambda start: _some(start + "l")))


def _longer_endings(word: str) -> str:
    pairs = (
        ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""),
    )  # fmt: skip
    rules: list[Rule] = [(ending, instead, _some) for ending, instead in pairs]
    return _apply(word, *rules)


def _last_endings(word: str) -> str:
    endings = ["al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent"]
    later = ["ou", "ism", "ate", "iti", "ous", "ive", "ize"]
    rules: list[Rule] = [(ending, "", _more) for ending in endings]
    rules.append(("ion", "", lambda start: _more(start) and start[-1] in "st"))
    return _apply(word, *rules, *((ending, "", _more) for ending in later))


def _final_e(word: str) -> str:
    start = word.removesuffix("e")
    if start == word:
        return word
    measure = _measure(start)
    return start if measure > 1 or (measure == 1 and not _short(start)) else word


def _final_l(word: str) -> str:
    return word[:-1] if word.endswith("ll") and _more(word[:-1]) else word
