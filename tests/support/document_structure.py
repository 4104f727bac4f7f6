"""What of a document must be the same after it was translated, read by parsers that are not ours."""

import io
import re
import xml.etree.ElementTree as ElementTree
import zipfile
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

_LETTERS = re.compile(r"[^\W\d_]+")


def structure(path: Path, data: bytes) -> Any:
    """Everything but the words, in a form that can be compared."""
    return _READERS[path.suffix.lower()](data)


def _text(data: bytes) -> list[tuple[str, bool, str]]:
    """Of each line: its indentation, whether it is blank, and its end. Rules and the like are kept whole."""
    lines = re.findall(r"[^\n]*\n|[^\n]+$", data.decode("utf-8"))
    found = []
    for line in lines:
        words = line.rstrip("\r\n")
        indent = words[: len(words) - len(words.lstrip())]
        found.append((indent if any(map(str.isalnum, words)) else words, bool(words.strip()), line[len(words) :]))
    return found


def _markdown(data: bytes) -> list[Any]:
    """The tokens of another parser: kinds, tags, addresses, code."""
    text = data.decode("utf-8-sig")
    found: list[Any] = [text.count("\n"), text.count("\r")]
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        found.append((token.type, token.tag, token.level, token.info, token.markup))
        if token.type in ("fence", "code_block"):
            found.append(token.content)
        for inner in token.children or ():
            if inner.type not in ("text", "softbreak", "hardbreak"):
                found.append(
                    (
                        inner.type,
                        inner.tag,
                        {**inner.attrs, "alt": ""},
                        inner.content if inner.type == "code_inline" else "",
                    )
                )
    return found


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)
        self.found: list[Any] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.found.append((self.get_starttag_text(), attrs))
        self.kept = tag if tag in ("script", "style", "pre", "code") else getattr(self, "kept", None)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.found.append((self.get_starttag_text(), attrs))

    def handle_endtag(self, tag: str) -> None:
        self.found.append(f"/{tag}")
        if tag == getattr(self, "kept", None):
            self.kept = None

    def handle_data(self, data: str) -> None:
        if getattr(self, "kept", None):
            self.found.append(data)

    def handle_comment(self, data: str) -> None:
        self.found.append(("comment", data))

    def handle_decl(self, decl: str) -> None:
        self.found.append(("declaration", decl))


def _page(data: bytes) -> list[Any]:
    text = data.decode("utf-8")
    reader = _Tags()
    reader.feed(text)
    return [text.count("\n"), text.count("\r"), *reader.found]


def _subtitles(data: bytes) -> list[str]:
    """Numbers, times, blank lines, formatting in order; of words only that a line has some."""
    lines = data.decode("utf-8").split("\n")
    found, formats = [], []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        plain = re.sub(r"<[^>]*>|\{\\[^}]*\}", "", line)
        formats += re.findall(r"<[^>]*>|\{\\[^}]*\}", line)
        words = any(map(str.isalnum, plain)) and "-->" not in line + following
        found.append("*" if words else plain.strip())
    return found + formats


def _catalogue(data: bytes) -> list[str]:
    """Every line; of translations only that they are there."""
    return [re.sub(r'^(\s*msgstr(?:\[\d+\])?) ".*"$', r"\1", line) for line in data.decode("utf-8").split("\n")]


def _word(data: bytes) -> list[Any]:
    """Names and order of the package's files; all elements and attributes; the bytes of what is no text."""
    found: list[Any] = []
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        for entry in packed.infolist():
            content = packed.read(entry)
            found.append((entry.filename, entry.date_time, entry.compress_type))
            if not re.fullmatch(
                r"word/(document|header\d*|footer\d*|footnotes|endnotes|comments)\.xml", entry.filename
            ):
                found.append(content)
                continue
            for element in ElementTree.fromstring(content).iter():
                name = element.tag.rpartition("}")[2]
                attributes = {key: value for key, value in element.attrib.items() if not key.endswith("}space")}
                spoken = name == "t"
                found.append((name, attributes, None if spoken else element.text))
    return found


_READERS = {
    ".txt": _text,
    ".md": _markdown,
    ".html": _page,
    ".htm": _page,
    ".srt": _subtitles,
    ".po": _catalogue,
    ".docx": _word,
}
