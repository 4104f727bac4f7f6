"""DOCX files of Word and others: the paragraphs of the text, notes, headers and footers; the package stays.

Only what stands inside `w:t` elements is exchanged. Formatting is kept: where a paragraph's runs differ, the places
where they change are marks around words. Runs that look the same are one text, of which all goes into the first: Word
cuts runs anywhere, also inside words.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from xml.parsers import expat

from clearformer.documents.office_package import OfficePackage, open_package
from clearformer.documents.segments import DocumentError, Fragment, TextSegment, has_words, merged, spliced
from clearformer.documents.tags import CharacterReferences, MarkupTag, tags_in

_PARTS = re.compile(r"word/(?:document|footnotes|endnotes|comments|header\d*|footer\d*)\d*\.xml")
_CHANGES = ("w:hyperlink", "w:ins", "w:del", "w:sdt", "w:smarttag", "w:fldsimple", "w:sym", "w:nobreakhyphen")
MAIN = "word/document.xml"
_SPACED = re.compile(r"<w:t>(?=(?:[^<]*\s)?</w:t>)(?=\s|[^<]*\s</w:t>)")


@dataclass(frozen=True)
class _Part:
    """An XML file of the package, with what is text in it."""

    name: str
    text: str
    segments: tuple[TextSegment, ...]


class WordFile:
    """A .docx file; its segments are those of all its parts, one after the other."""

    escape = staticmethod(CharacterReferences("").escape)

    def __init__(self, path: Path, package: OfficePackage) -> None:
        self.path, self._package = path, package
        names = [name for name in package.names() if _PARTS.fullmatch(name)]
        if MAIN not in names:
            raise DocumentError(f"{path} has no {MAIN}, so it is no Word document; save it as .docx anew")
        self._parts = [_read_part(path, name, package.read(name)) for name in names]

    @cached_property
    def segments(self) -> tuple[TextSegment, ...]:
        return tuple(segment for part in self._parts for segment in part.segments)

    def place(self, segment: TextSegment) -> str:
        for part in self._parts:
            for number, one in enumerate(part.segments, start=1):
                if one is segment:
                    return f"{self.path}/{part.name}: paragraph {number}"
        return str(self.path)

    def rebuilt(self, translated: Sequence[Sequence[Fragment]]) -> bytes:
        changed, first = {}, 0
        for part in self._parts:
            last = first + len(part.segments)
            text = spliced(part.text, part.segments, translated[first:last], self.escape)
            changed[part.name] = _SPACED.sub('<w:t xml:space="preserve">', text).encode("utf-8")
            first = last
        return self._package.with_files(changed)


def open_word_file(path: Path) -> WordFile:
    """A .docx file."""
    return WordFile(path, open_package(path))


def _read_part(path: Path, name: str, data: bytes) -> _Part:
    place = f"{path}/{name}"
    check_xml(place, data)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise DocumentError(f"{place} is not in UTF-8; open the file in a word processor and save it anew") from None
    return _Part(name, text, tuple(_paragraphs(text)))


def check_xml(place: str, data: bytes) -> None:
    """Refuse what is not well formed, and every declaration of types or entities, which no Word document has."""
    parser = expat.ParserCreate()

    def refuse(*_: object) -> None:
        raise DocumentError(f"{place}:{parser.CurrentLineNumber} declares a document type or entities; refused")

    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise DocumentError(
            f"{place}:{error.lineno} is no whole XML ({expat.errors.messages[error.code]}); get it anew"
        ) from None


@dataclass
class _Paragraph:
    """One that is being read: where its words are, and what the run looks like that each is in."""

    words: list[tuple[int, int, str]]


def _paragraphs(text: str) -> Iterator[TextSegment]:
    """One segment for each paragraph, from its first word to its last; paragraphs in text boxes are their own."""
    found: list[tuple[int, TextSegment]] = []
    open_ones: list[_Paragraph] = []
    look, look_from = "", 0
    for tag in tags_in(text):
        if tag.name == "w:p" and not tag.alone:
            if tag.closes and open_ones:
                found += [(segment.start, segment) for segment in _segments(text, open_ones.pop().words)]
            elif not tag.closes:
                _cut(open_ones)
                open_ones.append(_Paragraph([]))
        elif tag.name == "w:r" and not tag.closes:
            look = ""
        elif tag.name == "w:rpr":
            look, look_from = (text[look_from : tag.start], 0) if tag.closes else ("", tag.end)
        elif tag.name == "w:t" and not tag.alone and open_ones:
            words = open_ones[-1].words
            if tag.closes:
                words[-1] = (words[-1][0], tag.start, words[-1][2])
            else:
                words.append((tag.end, tag.end, look))
        elif _divides(tag):
            _cut(open_ones)
    yield from (segment for _, segment in sorted(found, key=lambda one: one[0]))


def _divides(tag: MarkupTag) -> bool:
    """What stands between words like a space or a new line."""
    return tag.name in ("w:tab", "w:br", "w:cr", "w:fldchar", "w:drawing", "w:pict", "w:object", "w:footnotereference")


def _cut(open_ones: list[_Paragraph]) -> None:
    if open_ones and open_ones[-1].words and open_ones[-1].words[-1][0] >= 0:
        open_ones[-1].words.append((-1, -1, ""))


def _segments(text: str, words: list[tuple[int, int, str]]) -> Iterator[TextSegment]:
    """What stands between two cuts of a paragraph."""
    group: list[tuple[int, int, str]] = []
    for one in [*words, (-1, -1, "")]:
        if one[0] >= 0:
            group.append(one)
            continue
        yield from _segment(text, group)
        group = []


def _segment(text: str, group: Sequence[tuple[int, int, str]]) -> Iterator[TextSegment]:
    """Words with marks where formatting changes; all words that look the same come before the tags between them."""
    references = CharacterReferences("")
    pieces: list[Fragment] = []
    waiting = ""  # tags between runs that look the same
    for number, (start, end, look) in enumerate(group):
        between = text[group[number - 1][1] : start] if number else ""
        if number and look == group[number - 1][2] and not _changes(between):
            waiting += between
        elif number:
            pieces.append(Fragment(waiting + between, "mark"))
            waiting = ""
        for is_words, part in references.words_of(text[start:end]):
            pieces.append(Fragment(part, "words" if is_words else "mark"))
    if group and has_words("".join(piece.text for piece in pieces if piece.kind == "words")):
        pieces.append(Fragment(waiting, "mark"))
        yield TextSegment(group[0][0], group[-1][1], tuple(merged(pieces)))


def _changes(between: str) -> bool:
    """Whether more than a run ends and begins, as at a link or a change that somebody tracked."""
    return any(tag.name in _CHANGES for tag in tags_in(between))
