"""Markdown: headings, paragraphs, items and cells; code, addresses, HTML and every mark of the layout stay."""

import re
from collections.abc import Container, Iterator, Sequence
from pathlib import Path

from clearformer.documents.line_ends import lines_of
from clearformer.documents.segments import Fragment, TextDocument, TextSegment, has_words, merged, read_bytes, read_text
from clearformer.documents.tags import CharacterReferences
from clearformer.documents.web_page import page_segments

Line = tuple[int, int, int]
_QUOTE = re.compile(r"(?:[ ]{0,3}>[ ]?)*")
_ITEM = re.compile(r"(?P<indent>[ \t]*)(?:[-*+]|\d{1,9}[.)])(?:[ \t]+(?:\[[ xX]\][ \t]+)?|$)")
_FENCE = re.compile(r"[ \t]*(?P<fence>`{3,}|~{3,}|:{3,}|\$\$)(?P<info>.*)")
_HEADING = re.compile(r"[ ]{0,3}#{1,6}(?:[ \t]+|$)")
_CLOSING = re.compile(r"[ \t]+#+[ \t]*$")
_RULE = re.compile(r"[ ]{0,3}(?:=+|-+|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|(?:-[ \t]*){3,})[ \t]*$")
_DELIMITERS = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_DEFINITION = re.compile(r"[ ]{0,3}\[[^\]\n]+\]:")
_NAMED = re.compile(r"\[([^\[\]]+)\](?:\[\])?(?![\[(])")
_BLOCK_TAGS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|"
    "fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|"
    "nav|noframes|ol|optgroup|option|p|param|pre|script|search|section|style|summary|table|tbody|td|textarea|tfoot|th|"
    "thead|title|tr|track|ul"
)
# A block tag, a comment, or a line that is nothing but one tag; other tags stand in paragraphs.
_HTML = re.compile(rf"[ ]{{0,3}}<(?:/?(?:{_BLOCK_TAGS})(?=[\s/>]|$)|!--|[?!]|/?[a-zA-Z][^<>]*>[ \t]*$)", re.IGNORECASE)
_FRONT = re.compile(r"---[ \t]*\r?\n.*?\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|$)", re.DOTALL)
_INLINE = re.compile(
    r"(?P<code>(?<!`)(`+)(?!`).+?(?<!`)\2(?!`))|(?P<kept>!\[[^\]\n]*\](?:\([^()\s]*(?:\s+\"[^\"]*\")?\)|\[[^\]\n]*\])"
    r"|<[a-zA-Z][a-zA-Z0-9+.-]*:[^<>\s]*>|\[\^[^\]\s]+\]|\$[^$\s](?:[^$\n]*[^$\s])?\$(?!\d)|\\[^\s\w]|\{\w+\}`[^`]*`)"
    r"|(?P<mark>\](?:\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+(?:\"[^\"]*\"|'[^']*'))?\)|\[[^\]\n]*\])"
    r"|</?[a-zA-Z][^<>]*>|<!--.*?-->|&[#\w]+;|\*{1,3}|~~|(?<!\w)_{1,3}(?=\S)|(?<=\S)_{1,3}(?!\w)|\[|\])",
    re.DOTALL,
)


def open_markdown(path: Path) -> TextDocument:
    """A .md file."""
    text, mark = read_text(path, read_bytes(path))
    return TextDocument(path, text, tuple(_MarkdownBlocks(text).segments()), mark=mark)


class _MarkdownBlocks:
    """The lines of a file, block by block."""

    def __init__(self, text: str) -> None:
        self.text = text
        front = _FRONT.match(text)
        self.lines = [line for line in lines_of(text) if line[0] >= (front.end() if front else 0)]
        self.names = {_name(found[1]) for found in re.finditer(r"^[ ]{0,3}\[([^\]\n]+)\]:", text, re.MULTILINE)}
        self.at = 0
        self.item: int | None = None  # the column of the words of the open list item
        self.after_blank = True

    def segments(self) -> Iterator[TextSegment]:
        while self.at < len(self.lines):
            yield from self._block()

    def _block(self) -> Iterator[TextSegment]:
        shown = self._shown(self.at)
        body = shown[self._quoted(shown) :]
        if not body.strip():
            self.at, self.after_blank = self.at + 1, True
            return
        if self.after_blank and not body[0].isspace() and not _ITEM.match(body):
            self.item = None  # no list goes on here
        fence = _FENCE.match(body)
        if fence and not (fence["fence"][0] == "`" and "`" in fence["info"]):
            self._skip_fence(fence["fence"], one_line=fence["fence"] == "$$" and "$$" in fence["info"])
        elif self._is_code(body) or _DEFINITION.match(body) or (_RULE.match(body) and not has_words(body)):
            self.at += 1
            return  # a blank line before is still a blank line before
        elif _HTML.match(body):
            yield from self._html()
        elif self._is_table():
            yield from self._table()
        else:
            yield from self._paragraph()
        self.after_blank = False

    # --- what a line is ----------------------------------------------------------------------------------------------

    def _shown(self, number: int) -> str:
        start, end, _ = self.lines[number]
        return self.text[start:end]

    def _quoted(self, shown: str) -> int:
        found = _QUOTE.match(shown)
        return found.end() if found else 0

    def _is_code(self, body: str) -> bool:
        """Four columns further in than text would be, behind a blank line."""
        spread = body.expandtabs(4)
        indent = len(spread) - len(spread.lstrip())
        return self.after_blank and indent >= (self.item or 0) + 4 and not (self.item is not None and _ITEM.match(body))

    def _is_table(self) -> bool:
        following = self.at + 1
        if following >= len(self.lines) or "|" not in self._shown(self.at):
            return False
        second = self._shown(following)
        return "|" in second and _DELIMITERS.match(second[self._quoted(second) :]) is not None

    # --- blocks ------------------------------------------------------------------------------------------------------

    def _skip_fence(self, fence: str, *, one_line: bool) -> None:
        self.at += 1
        while self.at < len(self.lines) and not one_line:
            shown = self._shown(self.at)
            body = shown[self._quoted(shown) :].strip()
            self.at += 1
            if body.startswith(fence) and not body.strip(fence[0]):
                return

    def _html(self) -> Iterator[TextSegment]:
        """Up to a blank line, or to the end of what may have blank lines inside."""
        start = self.lines[self.at][0]
        opening = re.match(r"\s*<(script|pre|style|textarea|!--)", self._shown(self.at), re.IGNORECASE)
        closing = None if opening is None else "-->" if opening[1] == "!--" else f"</{opening[1].lower()}"
        while self.at < len(self.lines):
            shown = self._shown(self.at)
            self.at += 1
            if (closing is None and not shown.strip()) or (closing is not None and closing in shown.lower()):
                break
        end = self.lines[self.at - 1][2]
        yield from page_segments(self.text, CharacterReferences(self.text[start:end]), start, end)

    def _table(self) -> Iterator[TextSegment]:
        row = 0
        while self.at < len(self.lines) and "|" in self._shown(self.at):
            start, end, _ = self.lines[self.at]
            self.at, row = self.at + 1, row + 1
            if row == 2:
                continue
            for cell in re.finditer(r"(?:\\.|[^|\\]|\\$)+", self.text[start:end]):
                yield from self._segment([(start + cell.start(), start + cell.end())])

    def _paragraph(self) -> Iterator[TextSegment]:
        """A heading, or lines that belong together; behind its marker a list item is a paragraph, too."""
        spans: list[tuple[int, int]] = []
        while self.at < len(self.lines):
            start, end, _ = self.lines[self.at]
            shown = self._shown(self.at)
            begin = self._quoted(shown)
            body = shown[begin:]
            if spans and self._interrupts(body):
                break
            while item := _ITEM.match(body):
                begin, body = begin + item.end(), body[item.end() :]
                self.item = len(shown[:begin].expandtabs(4))
            heading = _HEADING.match(body)
            if heading is not None:
                end = start + len(_CLOSING.sub("", shown))
                begin += heading.end()
            spans.append((start + begin, end))
            self.at += 1
            if heading is not None:
                break
        yield from self._segment(spans)

    def _interrupts(self, body: str) -> bool:
        """Whether a line begins something else than the next line of a paragraph."""
        begins = (_ITEM, _FENCE, _HEADING, _RULE, _HTML)
        return not body.strip() or any(one.match(body) for one in begins) or self._is_table()

    def _segment(self, spans: Sequence[tuple[int, int]]) -> Iterator[TextSegment]:
        """Lines as one segment: white space at line ends, line ends and what begins a line are breaks."""
        pieces: list[Fragment] = []
        first = place = 0
        for number, (start, end) in enumerate(spans):
            inner = self.text[start:end]
            begin = start + len(inner) - len(inner.lstrip())
            stop = max(begin, start + len(inner.rstrip().rstrip("\\").rstrip()))
            if number:
                pieces.append(Fragment(self.text[place:begin], "break"))
            else:
                first = begin
            pieces.append(Fragment(self.text[begin:stop]))
            place = stop
        found = tuple(merged(inline_pieces(pieces, self.names)))
        if any(piece.kind == "words" and has_words(piece.text) for piece in found):
            yield TextSegment(first, place, found)


def inline_pieces(pieces: Sequence[Fragment], names: Container[str] = ()) -> Iterator[Fragment]:
    """Words with the marks inside them: emphasis, links, code. A mark may go over a line end.

    names: of the page's definitions; a link that consists of such a name keeps it, or it would lead nowhere.
    """
    text = "".join(piece.text for piece in pieces)
    owners = [piece for piece in pieces for _ in piece.text]
    last = 0
    while found := _INLINE.search(text, last):
        named = _NAMED.match(text, found.start())
        kept = named is not None and _name(named[1]) in names
        end = named.end() if named is not None and kept else found.end()
        yield from _between(owners, text, last, found.start())
        yield Fragment(text[found.start() : end], "mark" if found["mark"] and not kept else "kept")
        last = end
    yield from _between(owners, text, last, len(text))


def _name(label: str) -> str:
    return " ".join(label.casefold().split())


def _between(owners: Sequence[Fragment], text: str, start: int, end: int) -> Iterator[Fragment]:
    place = start
    while place < end:
        owner, first = owners[place], place
        while place < end and owners[place] is owner:
            place += 1
        yield Fragment(text[first:place], owner.kind)
