"""SRT subtitles: the words of each cue; numbers, times and formatting stay.

Each cue is translated by itself, because its words are seen while its time runs.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from clearformer.documents.line_ends import lines_of
from clearformer.documents.segments import (
    DocumentError,
    Fragment,
    TextDocument,
    TextSegment,
    has_words,
    merged,
    read_bytes,
    read_text,
)

_TIME = r"\d{1,3}:\d{1,2}:\d{1,2}(?:[.,:]\d{1,3})?"
_TIMES = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}(?:\s+\S.*)?")
_NUMBER = re.compile(r"\s*\d+\s*")
_FORMAT = re.compile(r"</?[a-zA-Z][^<>]*>|\{\\[^{}]*\}|♪|♫")
_SPEAKS = re.compile(r"\s*(?:[-–—]\s*)?")
_NEW_SPEAKER = re.compile(r"\s*(?:<[^<>]*>)?\s*[-–—]")


def open_subtitles(path: Path) -> TextDocument:
    """An .srt file."""
    text, mark = read_text(path, read_bytes(path))
    return TextDocument(path, text, tuple(_cues(path, text)), mark=mark)


def _cues(path: Path, text: str) -> Iterator[TextSegment]:
    lines = lines_of(text)
    shown = [text[start:end] for start, end, _ in lines]
    timed = [number for number, line in enumerate(shown) if _TIMES.fullmatch(line)]
    _check(path, shown, timed)
    for this, following in pairwise([*timed, len(lines)]):
        # The number before the next cue's time belongs to that cue, and so do blank lines.
        last = following - 1 if following < len(lines) and _NUMBER.fullmatch(shown[following - 1]) else following
        words = [number for number in range(this + 1, last) if shown[number].strip()]
        yield from _speakers(text, [lines[number] for number in words])


def _check(path: Path, shown: list[str], timed: list[int]) -> None:
    first = next((number for number, line in enumerate(shown) if line.strip()), None)
    if first is None:
        return
    if not timed:
        raise DocumentError(
            f"{path}:{first + 1} begins no subtitles: no line of the file gives two times (00:00:01,000 -->)"
        )
    for number, line in enumerate(shown):
        if "-->" in line and not _TIMES.fullmatch(line):
            raise DocumentError(f"{path}:{number + 1} has times that cannot be read: {line.strip()[:60]!r}; mend them")
    if first not in (timed[0], timed[0] - 1):
        raise DocumentError(f"{path}:{first + 1} should be the number of the first subtitle, not {shown[first][:40]!r}")


def _speakers(text: str, lines: list[tuple[int, int, int]]) -> Iterator[TextSegment]:
    """A line that begins with a dash is somebody else's."""
    group: list[tuple[int, int, int]] = []
    for line in lines:
        if group and _NEW_SPEAKER.match(text, line[0], line[1]):
            yield from _segment(text, group)
            group = []
        group.append(line)
    if group:
        yield from _segment(text, group)


def _segment(text: str, group: list[tuple[int, int, int]]) -> Iterator[TextSegment]:
    pieces: list[Fragment] = []
    opening = _SPEAKS.match(text, group[0][0], group[0][1])
    start = opening.end() if opening else group[0][0]
    place = start
    for number, (first, last, _) in enumerate(group):
        begin = start if number == 0 else first + len(text[first:last]) - len(text[first:last].lstrip())
        stop = first + len(text[first:last].rstrip())
        if number:
            pieces.append(Fragment(text[place:begin], "break"))
        for found in _FORMAT.finditer(text, begin, stop):
            pieces += [Fragment(text[begin : found.start()]), Fragment(found[0], "mark")]
            begin = found.end()
        pieces.append(Fragment(text[begin:stop]))
        place = stop
    if any(piece.kind == "words" and has_words(piece.text) for piece in pieces):
        yield TextSegment(start, place, tuple(merged(piece for piece in pieces if piece.text)))
