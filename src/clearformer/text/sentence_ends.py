"""Where one sentence of a running text ends and the next begins, to translate them one by one.

Unlike `sentences`, which serves searching and may cut too often, this knows that "Dr. Smith paid 3.50 for it, e.g. on
3. Mai" is one sentence. White space belongs to none, so that joining spans with what lay between gives the text back.
"""

import re
from collections.abc import Iterator

from clearformer.text.sentences import Span, size

LONGEST = 400  # letters of what is translated at once; a longer sentence is cut behind a clause

# Words that are followed by a name or a number, so that their full stop ends nothing.
_NEVER_LAST = frozenset([
    "mr", "mrs", "ms", "dr", "prof", "sr", "jr", "st", "mt", "gen", "col", "lt", "capt", "sgt", "rev", "hon",
    "fig", "figs", "eq", "eqs", "sec", "no", "nos", "nr", "vol", "vols", "pp", "art", "ch", "cf", "vs", "ca",
    "approx", "str", "abb", "abs", "bd", "bzw", "ggf", "inkl", "evtl", "vgl", "hr", "fr", "hrsg", "kap", "tel",
    "mme", "mlle", "mm", "env", "sogen", "sog", "max", "min", "jan", "feb", "febr", "apr", "aug", "sept", "okt",
    "nov", "dez", "u.a", "z.b", "d.h", "e.g", "i.e", "u.s", "u.k", "o.ä", "z.t", "i.d.r", "v.a", "s.o", "s.u",
    "a.k.a", "viz",
])  # fmt: skip
_CLOSERS = "\"'”’»)\\]」』）》】"
_END = re.compile(rf"(?:[.!?…]+[{_CLOSERS}]*(?=\s)|[。！？]+[。！？…]*[{_CLOSERS}]*)")
_WORD_BEFORE = re.compile(r"[^\s(\[\"'“‘„»«/]*$")
_CLAUSE = re.compile(r"[;:；：](?=\s)|[；：]|,(?=\s)|[，、]|(?=\s[–—-]\s)")
_SPACE = re.compile(r"\s+")
_GAP = re.compile(r"\s*")


def sentence_spans(text: str, language: str | None = None, longest: int = LONGEST) -> list[Span]:
    """The sentences as beginning and end. language: German writes ordinals with a full stop (am 3. Mai)."""
    return [part for span in _whole(text, language) for part in _parts(text, span, longest)]


def _whole(text: str, language: str | None) -> Iterator[Span]:
    start = _after_gap(text, 0)
    for found in _END.finditer(text):
        following = _after_gap(text, found.end())
        if found.start() < start or not _ends(text, start, found, following, language):
            continue
        yield start, found.end()
        start = following
    end = len(text.rstrip())
    if start < end:
        yield start, end


def _after_gap(text: str, place: int) -> int:
    found = _GAP.match(text, place)
    assert found is not None  # it also matches nothing
    return found.end()


def _ends(text: str, start: int, found: re.Match[str], following: int, language: str | None) -> bool:
    if following >= len(text):
        return False  # the last one ends by itself
    mark = found[0][0]
    if mark in "。！？":
        return True
    if text[following].islower() or text[following] in ",;:)":
        return False
    if mark != "." or found[0].startswith(".."):
        return True
    before = _WORD_BEFORE.search(text, start, found.start())
    return not _stays_open(
        before[0] if before else "", start == found.start() - len(before[0] if before else ""), language
    )


def _stays_open(word: str, is_first: bool, language: str | None) -> bool:
    """Whether a full stop behind this word belongs to the word."""
    if word.lower() in _NEVER_LAST:
        return True
    if len(word) == 1 and word.isalpha() and word != "I":
        return True  # an initial, or as in z. B.
    if re.fullmatch(r"(?:[^\W\d_]\.)+[^\W\d_]", word):  # as U.S.A
        return True
    numbered = word.isdecimal() and len(word) <= 2
    return numbered and (is_first or language == "de")


def _parts(text: str, span: Span, longest: int) -> Iterator[Span]:
    """A sentence that is too long, cut behind the last clause that fits, else at white space, else anywhere."""
    start, end = span
    while size(text[start:end]) > longest:
        most = start + max(1, longest if text[start:end].isascii() else _fitting(text, start, end, longest))
        cuts = [one.end() for one in _CLAUSE.finditer(text, start + 1, most) if one.end() > start + longest // 8]
        cuts = cuts or [one.start() for one in _SPACE.finditer(text, start + 1, most)] or [most]
        yield start, cuts[-1]
        start = _after_gap(text, cuts[-1])
    if start < end:
        yield start, end


def _fitting(text: str, start: int, end: int, longest: int) -> int:
    """How many characters from here say as much as `longest` letters."""
    count = min(end - start, longest)
    while size(text[start : start + count]) > longest:
        count = count * 3 // 4
    return count
