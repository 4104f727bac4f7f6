"""Where the sentences, paragraphs and passages of a text stand.

All of these are spans: beginning and end as character offsets. Together they cover every character that is not white
space; none is longer than a limit, so that a line of 100,000 characters is many sentences.
"""

import re
from collections.abc import Iterable, Iterator

Span = tuple[int, int]

LONGEST = 1000  # of a passage or a sentence, in letters: about 200 words, which every encoder reads at once
SHORTEST = 50  # of what is embedded as a sentence
HAN = 4  # a Chinese character says as much as so many letters, and takes a model as many tokens

_BLANK = re.compile(r"[^\S\n]*\n(?:[^\S\n]*\n)+")
# White space after . ! or ? and what closes a quotation; the place after a full-width mark, blank or not; the line end
# before an item of a list, a row of a table or a heading.
_ENDS = re.compile(r"""[.!?…]["'”’»)\]]*(\s+)|[。！？]["'”’」』）》]*(\s*)|(\n)(?=[^\S\n]*(?:[-*+|#>]|\d+[.)])\s*\S)""")
_LAST = re.compile(r"""[.!?…。！？]["'”’»)\]」』）》]*$""")
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U000323af]")


def size(text: str) -> int:
    """How much a text says, in letters."""
    return len(text) if text.isascii() else len(text) + (HAN - 1) * len(_WIDE.findall(text))


def paragraphs(text: str) -> list[Span]:
    """What stands between blank lines."""
    return list(_between(text, (found.span() for found in _BLANK.finditer(text))))


def sentences(text: str, longest: int = LONGEST) -> list[Span]:
    """The sentences; one that is longer than the limit is cut at white space, or where there is none, anywhere."""
    return [
        part
        for start, end in paragraphs(text)
        for first, last in _between(text, _gaps(text, start, end), start, end)
        for part in _cut(text, first, last, longest)
    ]


def passages(text: str, longest: int = LONGEST) -> list[Span]:
    """Whole paragraphs, as many as fit; one that does not fit by itself is divided between sentences.

    A heading (#) begins a new passage, so that a section and what it is called stay together.
    """
    return list(_packed(text, _blocks(text, longest), longest))


def windows(text: str, longest: int = LONGEST) -> list[Span]:
    """What of a text is embedded: every sentence and every passage.

    A question is mostly about one sentence, and what a sentence is about is often said only by those around it. A short
    one ("Then train.") is near every question of a few words, so it is read together with the next.
    """
    return list(dict.fromkeys([*_long_enough(text, sentences(text, longest), longest), *passages(text, longest)]))


def whole_sentences(text: str) -> str:
    """A text that was broken off, up to the end of its last sentence that is surely one; "" where none is.

    A mark at the very end may be anything (3. of 3.5), so only what stands before white space counts, or a full-width
    mark.
    """
    ends = [found.start(found.lastindex or 0) for found in _ENDS.finditer(text) if found[3] is None]
    return text[: ends[-1]] if ends else ""


def ends_a_sentence(text: str) -> bool:
    """Whether the last sign of a text ends a sentence."""
    return _LAST.search(text) is not None


def _long_enough(text: str, found: list[Span], longest: int) -> list[Span]:
    made: list[Span] = []
    for start, end in found:
        joined = made and size(text[made[-1][0] : made[-1][1]]) < SHORTEST and size(text[made[-1][0] : end]) <= longest
        made.append((made.pop()[0], end) if joined else (start, end))
    if len(made) > 1 and size(text[slice(*made[-1])]) < SHORTEST and size(text[made[-2][0] : made[-1][1]]) <= longest:
        made[-2:] = [(made[-2][0], made[-1][1])]
    return made


def _gaps(text: str, start: int, end: int) -> Iterator[Span]:
    for found in _ENDS.finditer(text, start, end):
        yield found.span(found.lastindex or 0)


def _blocks(text: str, longest: int) -> Iterator[Span]:
    for start, end in paragraphs(text):
        if size(text[start:end]) <= longest:
            yield start, end
        else:
            inner = sentences(text[start:end], longest)
            yield from _packed(text, ((start + first, start + last) for first, last in inner), longest)


def _packed(text: str, parts: Iterable[Span], longest: int) -> Iterator[Span]:
    """Neighbours together, as long as they fit."""
    begin: int | None = None
    until = 0
    for start, end in parts:
        if begin is not None and (text[start] == "#" or size(text[begin:end]) > longest):
            yield begin, until
            begin = None
        begin, until = (start if begin is None else begin), end
    if begin is not None:
        yield begin, until


def _between(text: str, gaps: Iterable[Span], start: int = 0, end: int | None = None) -> Iterator[Span]:
    """What lies between gaps, without white space at its ends."""
    end = len(text) if end is None else end
    for first, last in (*gaps, (end, end)):
        inner = text[start:first]
        if inner.strip():
            begin = start + len(inner) - len(inner.lstrip())
            yield begin, begin + len(inner.strip())
        start = last


def _cut(text: str, start: int, end: int, longest: int) -> Iterator[Span]:
    while start < end:
        stop = min(end, start + longest)  # all that can fit: looking further each time would take quadratic time
        while stop - start > 1 and size(text[start:stop]) > longest:
            stop = start + max(1, (stop - start) * 3 // 4)
        if stop < end:
            blank = max(text.rfind(" ", start + 1, stop + 1), text.rfind("\n", start + 1, stop + 1))
            stop = blank if blank > start else stop
        yield from _between(text, (), start, stop)
        start = stop
