"""HTML: the text between tags, with inline tags as marks in it; scripts, styles, code and attributes stay."""

import re
from collections.abc import Iterator
from pathlib import Path

from clearformer.documents.segments import (
    Fragment,
    Kind,
    TextDocument,
    TextSegment,
    has_words,
    merged,
    read_bytes,
    read_text,
)
from clearformer.documents.tags import CharacterReferences, MarkupTag, tags_in

_INLINE = frozenset([
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "del", "dfn", "em", "font", "i", "ins", "label",
    "mark", "nobr", "q", "s", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u",
])  # fmt: skip
_ITEMS = frozenset([
    "code", "kbd", "samp", "var", "img", "input", "math", "svg",
])  # fmt: skip  # a sentence speaks of them; their inside is kept
_SKIPPED = frozenset([
    "script", "style", "textarea", "pre", "template", "noembed", "noframes", "iframe", "object", "xmp",
    "plaintext",
])  # fmt: skip
_KEPT_BY_WISH = re.compile(r"\btranslate\s*=\s*[\"']?no\b|\bclass\s*=\s*[\"'][^\"']*\bnotranslate\b")
_LINE_END = re.compile(r"[ \t\f]*(?:\r\n|\r|\n)\s*")


def open_web_page(path: Path) -> TextDocument:
    """A .html file."""
    text, mark = read_text(path, read_bytes(path))
    references = CharacterReferences("".join(words for words in _between_tags(text)))
    segments = tuple(page_segments(text, references))
    return TextDocument(path, text, segments, escape=references.escape, mark=mark)


def page_segments(
    text: str, references: CharacterReferences, start: int = 0, end: int | None = None
) -> Iterator[TextSegment]:
    """One segment for what stands between two tags that are not inline."""
    end = len(text) if end is None else end
    pieces: list[tuple[int, int, Fragment]] = []
    last = start
    for first, until, kind in _stretches(text, start, end):
        pieces += _words(text, last, first, references)
        last = until
        if kind is None:
            yield from _segment(pieces)
            pieces = []
        else:
            pieces.append((first, until, Fragment(text[first:until], kind)))
    pieces += _words(text, last, end, references)
    yield from _segment(pieces)


def _between_tags(text: str) -> Iterator[str]:
    last = 0
    for first, until, _ in _stretches(text, 0, len(text)):
        yield text[last:first]
        last = until
    yield text[last:]


def _stretches(text: str, start: int, end: int) -> Iterator[tuple[int, int, Kind | None]]:
    """What is no text: where it begins and ends, and as which piece it stands in a sentence; None: it ends one."""
    tags = iter(tags_in(text, start, end))
    for tag in tags:
        kind: Kind | None = None
        if tag.name in _INLINE or tag.name in _ITEMS or not tag.name:
            kind = "kept" if tag.name in _ITEMS else "mark"
        until = tag.end
        if not tag.closes and not tag.alone and _is_whole(tag):
            until = _end_of(tag, tags, end)
            kind = "kept" if kind == "mark" else kind
        if text.startswith("<!", tag.start) and not text.startswith("<!--", tag.start):
            kind = None
        yield tag.start, until, kind


def _is_whole(tag: MarkupTag) -> bool:
    """Whether a tag is kept together with what it encloses."""
    return tag.name in _SKIPPED or tag.name in _ITEMS or _KEPT_BY_WISH.search(tag.rest) is not None


def _end_of(tag: MarkupTag, following: Iterator[MarkupTag], end: int) -> int:
    depth = 1
    for one in following:
        if one.name == tag.name and not (one.rest.rstrip().endswith("/") and not one.closes):
            if tag.name in ("script", "style", "textarea") and not one.closes:
                continue  # what looks like a tag in there is none
            depth += -1 if one.closes else 1
            if depth == 0:
                return one.end
    return end


def _words(text: str, start: int, end: int, references: CharacterReferences) -> Iterator[tuple[int, int, Fragment]]:
    """Words and line ends, with the places that they take; references are read."""
    last = start
    for found in _LINE_END.finditer(text, start, end):
        yield from _line(text, last, found.start(), references)
        yield found.start(), found.end(), Fragment(found[0], "break")
        last = found.end()
    yield from _line(text, last, end, references)


def _line(text: str, start: int, end: int, references: CharacterReferences) -> Iterator[tuple[int, int, Fragment]]:
    place = start
    for is_words, part in references.words_of(text[start:end]):
        length = len(references.escape(part)) if is_words else len(part)
        yield place, place + length, Fragment(part, "words" if is_words else "mark")
        place += length


def _segment(pieces: list[tuple[int, int, Fragment]]) -> Iterator[TextSegment]:
    """Without white space at the ends; what the tags at the ends enclose is seen when sentences are."""
    if not any(one.kind == "words" and has_words(one.text) for _, _, one in pieces):
        return
    spoken = [number for number, (_, _, one) in enumerate(pieces) if one.kind != "break" and one.text.strip()]
    inner = pieces[spoken[0] : spoken[-1] + 1]
    yield TextSegment(inner[0][0], inner[-1][1], tuple(merged(piece for _, _, piece in inner)))
