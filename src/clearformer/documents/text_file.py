"""Plain text: paragraphs that were wrapped are read as one, everything else line by line."""

import re
from collections.abc import Iterator
from pathlib import Path

from clearformer.documents.line_ends import continues, lines_of, width
from clearformer.documents.segments import Fragment, TextDocument, TextSegment, has_words, read_bytes, read_text

Line = tuple[int, int, int]
_MARKER = re.compile(r"(?:[-*+•·–—#>]+|\d{1,3}[.)]|\(\w\))[ \t]+")


def open_text_file(path: Path) -> TextDocument:
    """A .txt file."""
    text, mark = read_text(path, read_bytes(path))
    return TextDocument(path, text, tuple(wrapped_segments(text, lines_of(text))), mark=mark)


def wrapped_segments(text: str, lines: list[Line]) -> Iterator[TextSegment]:
    """One segment for each line, or for each run of lines that are one wrapped text."""
    for block in _blocks(text, lines):
        widest = max(width(text[start:end]) for start, end, _ in block)
        group: list[Line] = []
        for line in block:
            if group and not continues(text[group[-1][0] : group[-1][1]], text[line[0] : line[1]], widest):
                yield from _segment(text, group)
                group = []
            group.append(line)
        yield from _segment(text, group)


def _blocks(text: str, lines: list[Line]) -> Iterator[list[Line]]:
    """What stands between blank lines."""
    block: list[Line] = []
    for line in lines:
        if text[line[0] : line[1]].strip():
            block.append(line)
        elif block:
            yield block
            block = []
    if block:
        yield block


def _segment(text: str, group: list[Line]) -> Iterator[TextSegment]:
    """Lines as one segment; what ends one line and indents the next is one break."""
    pieces: list[Fragment] = []
    start = end = group[0][0]
    for number, (first, last, _) in enumerate(group):
        words = text[first:last]
        begin = first + len(words) - len(words.lstrip())
        stop = first + len(words.rstrip())
        if number:
            pieces.append(Fragment(text[end:begin], "break"))
        else:
            marker = _MARKER.match(text, begin, stop)
            begin = start = begin if marker is None else marker.end()
        pieces.append(Fragment(text[begin:stop]))
        end = stop
    if has_words(text[start:end]):
        yield TextSegment(start, end, tuple(pieces))
