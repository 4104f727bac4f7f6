"""The terms of a text, which search by words counts.

Letters and digits that stand together are a term, in small letters, without accents and without the plural's s. Chinese
and Japanese show no ends of words, and most of their words have two characters, so every two neighbours are a term:
that finds words without a dictionary, where single characters would find nearly everything. A document has its single
characters as terms, too, for the query that is only one.
"""

import re
import sys
import unicodedata
from functools import cache, lru_cache
from typing import NamedTuple

_ASCII = re.compile(r"[A-Za-z0-9]+")
# Han with its extensions, Hiragana and Katakana.
_BIGRAMS = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U000323af"
_HAN = re.compile(f"[{_BIGRAMS}]+")
_ACCENTS = re.compile("[\u0300-\u036f]")


class TermSpan(NamedTuple):
    """A term, and where it stands in its text."""

    term: str
    start: int
    end: int


def document_terms(text: str) -> list[str]:
    """The terms that a text is found by, as often as they occur."""
    if text.isascii():
        return [_stem(word) for word in _ASCII.findall(text.lower())]
    return [found.term for found in term_spans(text, single=True)]


def query_terms(text: str) -> list[str]:
    """The terms that are looked for."""
    return [found.term for found in term_spans(text)]


def term_spans(text: str, *, single: bool = False) -> list[TermSpan]:
    """The terms of a text with their places. single: single characters of Chinese and Japanese as well as pairs."""
    found: list[TermSpan] = []
    for run in _runs().finditer(text):
        start, end = run.span()
        if not _HAN.match(run.group()):
            found.append(TermSpan(_stem(_folded(run.group())), start, end))
            continue
        if single or end - start == 1:
            found += [TermSpan(text[place], place, place + 1) for place in range(start, end)]
        found += [TermSpan(text[place : place + 2], place, place + 2) for place in range(start, end - 1)]
    return found


@cache
def _runs() -> re.Pattern[str]:
    """Runs of letters and digits with their marks (Python takes the vowel signs of Hindi for no part of a word), and
    runs of Chinese or Japanese.
    """
    marks = "".join(map(chr, (one for one in range(0x300, 0x10000) if unicodedata.category(chr(one))[0] == "M")))
    return re.compile(f"[{_BIGRAMS}]+|(?![{_BIGRAMS}])[^\\W_](?:(?![{_BIGRAMS}])[^\\W_]|[{marks}])*")


@lru_cache(1 << 18)
def _folded(word: str) -> str:
    """One spelling for Straße and STRASSE, Café and Cafe, ﬁ and fi."""
    decomposed = unicodedata.normalize("NFKD", word.casefold())
    return sys.intern(unicodedata.normalize("NFC", _ACCENTS.sub("", decomposed)))


def _stem(word: str) -> str:
    """Without the s of an English plural (Harman, 1991): dogs is dog, cities is city, glass and bus stay."""
    if len(word) < 4 or word[-1] != "s":
        return word
    if word.endswith("ies"):
        return word if word.endswith(("eies", "aies")) else f"{word[:-3]}y"
    if word.endswith("es"):
        return word if word.endswith(("aes", "ees", "oes")) else word[:-1]
    return word if word.endswith(("us", "ss")) else word[:-1]
