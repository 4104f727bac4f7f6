"""PO files of gettext: messages without a translation get one; whatever else is in the file stays.

A translation that somebody made is not replaced, nor is a fuzzy one, which waits for somebody. Headers, comments,
msgids, contexts and the number of plural forms stay; a placeholder that is filled at run time comes out as it went in.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from clearformer.documents.line_ends import continues, lines_of, width
from clearformer.documents.segments import DocumentError, Fragment, TextDocument, TextSegment, read_bytes, read_text

_KEYWORD = re.compile(r"\s*(?P<word>msgctxt|msgid_plural|msgid|msgstr(?:\[\d{1,2}\])?)\s*(?P<rest>\".*)")
_STRING = re.compile(r"\s*\"((?:[^\"\\]|\\.)*)\"\s*")
_CHARSET = re.compile(r"charset=([\w.:-]+)", re.IGNORECASE)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "a": "\a", "b": "\b", "v": "\v", "f": "\f"}
_WRITTEN = {character: f"\\{letter}" for letter, character in _ESCAPES.items()}
_IN_LINE = re.compile(r"(?<![%\d.*])</?[a-zA-Z][^<>\n]*>|\s*[\t\r]\s*")
SHORT = 60  # characters of what may stand in a menu
_UTF8 = ("utf-8", "utf8", "charset", "us-ascii", "ascii")  # "charset" stands in a template


@dataclass
class _Message:
    """One entry. The string of each keyword; empty ones with the place between their quotes."""

    strings: dict[str, str] = field(default_factory=dict)
    places: dict[str, tuple[int, int]] = field(default_factory=dict)
    fuzzy: bool = False


def open_catalogue(path: Path) -> TextDocument:
    """A .po or .pot file."""
    text, mark = read_text(path, read_bytes(path))
    messages = list(_messages(path, text))
    header = next((one.strings.get("msgstr", "") for one in messages if one.strings.get("msgid") == ""), "")
    charset = _CHARSET.search(header)
    if charset and charset[1].lower() not in _UTF8:
        raise DocumentError(f"{path}:1 says charset={charset[1]}; convert it with `msgconv -t UTF-8`")
    segments = sorted((one for message in messages for one in _open_places(message)), key=lambda one: one.start)
    return TextDocument(path, text, tuple(segments), escape=written, mark=mark)


def written(words: str) -> str:
    """Words as they stand between quotes."""
    return "".join(_WRITTEN.get(character, character) for character in words)


def _open_places(message: _Message) -> Iterator[TextSegment]:
    """The translations that are missing, each with what it has to say."""
    source = message.strings.get("msgid", "")
    plural = message.strings.get("msgid_plural", source)
    if not source or message.fuzzy or any(text for word, text in message.strings.items() if word.startswith("msgstr")):
        return
    several = "msgid_plural" in message.strings
    forms = [word for word in message.places if word.startswith("msgstr")]
    for word in forms:
        singular = not several or (word == "msgstr[0]" and len(forms) > 1)
        start, end = message.places[word]
        yield TextSegment(start, end, tuple(_pieces(source if singular else plural)))


def _pieces(message: str) -> Iterator[Fragment]:
    """A message: line ends inside wrapped text are breaks, others stops; tags are marks."""
    shortcut = _shortcut(message)
    if shortcut is not None:
        yield Fragment(message[shortcut], "mark")  # the letter behind it is a key; in a translation it is the first one
        message = message[:shortcut] + message[shortcut + 1 :]
    lines = re.split(r"([ \t]*\n\s*)", message)
    widest = max(map(width, lines[::2]))
    for number, part in enumerate(lines):
        if number % 2:
            wrapped = continues(lines[number - 1], lines[number + 1], widest)
            yield Fragment(written(part), "break" if wrapped else "stop")
        else:
            yield from _line(part)


def _line(text: str) -> Iterator[Fragment]:
    last = 0
    for found in _IN_LINE.finditer(text):
        yield from [Fragment(text[last : found.start()])] if found.start() > last else []
        yield Fragment(written(found[0]), "mark" if found[0].startswith("<") else "stop")
        last = found.end()
    yield from [Fragment(text[last:])] if last < len(text) else []


def _shortcut(message: str) -> int | None:
    """Where the sign stands that makes a letter a key, as in _Open or E&xit."""
    for sign, pattern in (("_", r"(?:^|(?<=\s))_(?=[A-Za-z])"), ("&", r"&(?=[A-Za-z])(?!\w+;)")):
        found = list(re.finditer(pattern, message))
        if len(found) == message.count(sign) == 1 and len(message) < SHORT:
            return found[0].start()
    return None


def _messages(path: Path, text: str) -> Iterator[_Message]:
    message, word = _Message(), ""
    for number, (start, end, _) in enumerate(lines_of(text), start=1):
        line = text[start:end]
        if not line.strip() or line.lstrip().startswith("#"):
            if message.strings and word.startswith("msgstr"):
                yield message
                message, word = _Message(), ""
            if re.match(r"\s*#,.*\bfuzzy\b", line):
                message.fuzzy = True
            continue
        found = _KEYWORD.fullmatch(line)
        if found is not None:
            if found["word"] in ("msgctxt", "msgid") and word.startswith("msgstr"):
                yield message
                message = _Message()
            word = found["word"]
            if word in message.strings:
                raise DocumentError(f"{path}:{number} says {word} twice in one message; take one out")
            quoted, place = found["rest"], start + found.start("rest")
        elif line.lstrip().startswith('"') and word:
            quoted, place = line, start
        else:
            raise DocumentError(f"{path}:{number} is no line of a PO file: {line.strip()[:60]!r}; mend or remove it")
        _take(message, word, _string(path, number, quoted), place + quoted.index('"') + 1)
    if message.strings:
        yield message


def _take(message: _Message, word: str, string: str, place: int) -> None:
    message.strings[word] = message.strings.get(word, "") + string
    if word not in message.places:
        message.places[word] = place, place


def _string(path: Path, number: int, quoted: str) -> str:
    found = _STRING.fullmatch(quoted)
    if found is None:
        raise DocumentError(f"{path}:{number} has a string without its closing quote: {quoted.strip()[:60]!r}; mend it")
    return re.sub(r"\\(.)", lambda one: _ESCAPES.get(one[1], one[0]), found[1])
