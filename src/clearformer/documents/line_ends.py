"""Lines of running text: which of them belong together, and how a translation is spread over as many.

A paragraph that was wrapped at some width is one text; a list, a poem or a table is not. A translation has as many
lines as the paragraph had, each ending with the same bytes and beginning with the same indentation.
"""

import re
from collections.abc import Sequence

from clearformer.documents.segments import has_words

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|$)")
_ITEM = re.compile(r"\s*(?:[-*+•·o◦–]|\d{1,3}[.)]|[a-zA-Z][.)]|\(\w{1,3}\)|[@\\.:#|>])\s")
_TABLE = re.compile(r"\S(?: {3,}|\t+)\S|\|.*\|")
NARROWEST = 40  # letters of a line that was wrapped rather than ended
FULL = 0.7  # of the widest line of a paragraph
_NARROW_GLYPHS = 2  # a Chinese character is as wide as so many letters
_CJK = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")
_OPENING = re.compile(r"(?:[-+*#>=|:•–—]+|\d{1,9}[.)])(?:\s|$)")
_BEFORE_NO_BREAK = "。，、；：？！”’）》」』】,.;:?!)]}"


def lines_of(text: str) -> list[tuple[int, int, int]]:
    """Every line: where it begins, where its words end, where its end ends."""
    found = []
    for line in _LINE.finditer(text):
        if line.end() > line.start():
            found.append((line.start(), line.start() + len(line[0].rstrip("\r\n")), line.end()))
    return found


def width(line: str) -> int:
    """In letters."""
    return len(line) + (_NARROW_GLYPHS - 1) * len(_CJK.findall(line))


def continues(line: str, following: str, widest: int) -> bool:
    """Whether a wrapped text goes on from this line to the next. widest: width of the widest line of its paragraph."""
    if not has_words(line) or not has_words(following):
        return False
    if _ITEM.match(following) or _TABLE.search(line.strip()) or _TABLE.search(following.strip()):
        return False
    indented = [len(one) - len(one.lstrip()) for one in (line, following)]
    if indented[0] != indented[1] and not (_ITEM.match(line) and indented[1] > indented[0]):
        return False
    first_word = following.split()[0]
    return width(line) >= NARROWEST and (width(line) >= FULL * widest or width(line) + 1 + width(first_word) > widest)


def spread(words: Sequence[str], shares: Sequence[float]) -> list[int] | None:
    """Behind which of these units (words with the space after them, or kept items) lines end.

    shares: how much of the whole each line but the last brings it to. None: there are fewer places than lines.
    """
    total = sum(map(len, words)) or 1
    places = [place for place in range(1, len(words)) if _may_end(words[place - 1], "".join(words[place : place + 2]))]
    if len(places) < len(shares):
        return None
    reached = {place: sum(map(len, words[:place])) / total for place in places}
    chosen: list[int] = []
    for number, share in enumerate(shares):
        left = len(shares) - number - 1  # lines that still need a place of their own
        open_places = [place for place in places if not chosen or place > chosen[-1]]
        open_places = open_places[: len(open_places) - left]
        chosen.append(min(open_places, key=lambda place: abs(reached[place] - share)))
    return chosen


def units(text: str) -> list[str]:
    """A text in the units between which a line may end: words with their space, Chinese characters."""
    found: list[str] = []
    for word in re.findall(r"\S+\s*|^\s+", text):
        last = 0
        for place in range(1, len(word)):
            wide = _CJK.match(word[place]) or _CJK.match(word[place - 1])
            if wide and word[place] not in _BEFORE_NO_BREAK and not word[place].isspace():
                found.append(word[last:place])
                last = place
        found.append(word[last:])
    return found


def _may_end(before: str, after: str) -> bool:
    if _OPENING.match(after):
        return False  # at the beginning of a line it would be an item of a list
    return before[-1:].isspace() or bool(_CJK.match(before[-1:]) or _CJK.match(after[:1]))
