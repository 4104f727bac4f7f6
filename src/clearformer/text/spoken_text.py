"""Transcripts made comparable: what nobody can hear, or what may be written in several ways, does not count.

For every language: capitals, punctuation, accents, brackets with remarks in them, and extra space. For English also:
hesitations are left out, contractions written out, and numbers as figures, so that "I'm twenty-one, um" and "I am 21"
are the same. In the spirit of the normaliser of Radford et al. (2022, appendix C), with rules of our own.
"""

import re
import unicodedata
from collections.abc import Sequence

from clearformer.text.language import WORDS
from clearformer.text.spoken_numbers import as_figures

ENGLISH = 0.1  # of the words: as many are frequent English words, in any English text of some length
_REMARK = re.compile(r"[<\[(][^>\])]*[>\])]")
_HESITATIONS = frozenset(["uh", "um", "uhm", "hmm", "hm", "mm", "mhm", "mmm", "er", "erm", "ah", "eh"])
# Contractions, after apostrophes were made one and letters small. Order matters: the irregular ones first.
_CONTRACTIONS = (
    (r"\bwon't\b", "will not"),
    (r"\bcan't\b", "can not"),
    (r"\bcannot\b", "can not"),
    (r"\bshan't\b", "shall not"),
    (r"\bain't\b", "is not"),
    (r"\blet's\b", "let us"),
    (r"\bgonna\b", "going to"),
    (r"\bgotta\b", "got to"),
    (r"\bwanna\b", "want to"),
    (r"n't\b", " not"),
    (r"'re\b", " are"),
    (r"'ve\b", " have"),
    (r"'ll\b", " will"),
    (r"'m\b", " am"),
    (r"'d\b", " would"),
    (r"\b(it|he|she|that|what|who|there|here|where|how)'s\b", r"\1 is"),
    (r"\bo'clock\b", "oclock"),
)
_TITLES = {"mr": "mister", "mrs": "missus", "dr": "doctor", "st": "saint", "prof": "professor"}
# Spellings of British English, by their endings; words where the rule would be wrong are left alone.
_OUR = "col|hon|fav|lab|neighb|behavi|harb|hum|rum|vig|flav|sav|endeav"
_ISE = "organ|real|recogn|apolog|emphas|critic|memor|special|util|author"
_SPELLINGS = tuple(
    (re.compile(rf"\b{pattern}\b"), replacement)
    for pattern, replacement in (
        (rf"({_OUR})our(s|ed|ing|able|ite|ites|ful|less)?", r"\1or\2"),
        (r"(cent|theat|met|lit|fib)re(s)?", r"\1er\2"),
        (rf"({_ISE})is(e|es|ed|ing|ation|ations)", r"\1iz\2"),
        (r"(travel|cancel|label|model|level)l(ed|ing|er|ers)", r"\1\2"),
        (r"grey(s)?", r"gray\1"),
        (r"programme(s)?", r"program\1"),
    )
)


def plain_words(text: str) -> str:
    """Small letters and figures with single spaces between them: for any language."""
    without = _REMARK.sub(" ", text.lower().replace("’", "'"))
    spelled = unicodedata.normalize("NFKD", without)
    kept = (" " if _separates(letter) else "" if unicodedata.combining(letter) else letter for letter in spelled)
    return " ".join(unicodedata.normalize("NFKC", "".join(kept)).split())


def _separates(letter: str) -> bool:
    """Punctuation and signs separate words; an apostrophe is part of one."""
    return letter != "'" and unicodedata.category(letter)[0] in "PSZC"


def english_words(text: str) -> str:
    """The same for English, where more is written in several ways."""
    lowered = _REMARK.sub(" ", text.lower().replace("’", "'"))
    for pattern, replacement in _CONTRACTIONS:
        lowered = re.sub(pattern, replacement, lowered)
    lowered = re.sub(r"(?<=\d),(?=\d{3}\b)", "", lowered)  # 1,000
    lowered = re.sub(r"\b(\w+)\.(?=\s|$)", lambda found: _TITLES.get(found[1], found[0]), lowered)
    lowered = re.sub(r"([$£€])\s?(\d[\d.]*)", r"\2 \1", lowered)  # read after the number
    for sign, word in (("%", " percent "), ("&", " and "), ("$", " dollars "), ("£", " pounds "), ("€", " euros ")):
        lowered = lowered.replace(sign, word)
    lowered = re.sub(r"(?<=\d)\.(?=\d)", " point ", lowered)
    words = [_TITLES.get(word, word) for word in plain_words(lowered).split() if word not in _HESITATIONS]
    joined = " ".join(as_figures(words))
    for spelling, replacement in _SPELLINGS:
        joined = spelling.sub(replacement, joined)
    return joined


def is_english(texts: Sequence[str]) -> bool:
    """Whether a tenth of the words are frequent English ones: enough for all other languages to have fewer."""
    frequent = set(WORDS["en"].split())
    words = [word for text in texts for word in plain_words(text).split()]
    return bool(words) and sum(word in frequent for word in words) > ENGLISH * len(words)
