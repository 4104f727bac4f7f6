"""Where the words of running text stand, split as people split text that they tag by hand."""

import re

from clearformer.text.scripts import script_of

_CHUNKS = re.compile(r"\S+")
_CHARACTERS = re.compile(r"\S")
# A name (@ada) or a topic (#snow) keeps its sign; marks at the ends of a chunk are words of their own; what stands
# inside (e-mail, 3.5, example.org) stays together.
_WORDS = re.compile(r"[@#]\w+(?:[\W]+\w+)*|\w+(?:[\W]+\w+)*|(\W)\1*", re.UNICODE)
_POSSESSIVE = re.compile(r"(?<=\w)['’]s$", re.IGNORECASE)


def word_spans(text: str, *, characters: bool = False) -> list[tuple[int, int]]:
    """Beginning and end of each word. characters: each character is one, as where a model was trained so.

    Chinese and Japanese characters are always words of their own, because nothing shows where words end.
    """
    if characters:
        return [found.span() for found in _CHARACTERS.finditer(text)]
    return [
        (chunk.start() + start, chunk.start() + end)
        for chunk in _CHUNKS.finditer(text)
        for start, end in _in_chunk(chunk.group())
    ]


def _in_chunk(chunk: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    begin = 0
    for place, letter in enumerate([*chunk, None]):
        if letter is None or script_of(letter) == "Han/Kana":
            found += [(begin + start, begin + end) for start, end in _in_run(chunk[begin:place])]
            if letter is not None:
                found.append((place, place + 1))
            begin = place + 1
    return found


def _in_run(run: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for word in _WORDS.finditer(run):
        cut = _POSSESSIVE.search(word.group())
        middle = word.start() + cut.start() if cut else word.end()
        found += [(word.start(), middle), *([(middle, word.end())] if cut else [])]
    return found
