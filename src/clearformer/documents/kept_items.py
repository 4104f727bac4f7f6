"""What must come out as it went in: addresses, placeholders, code; and a text around its numbers."""

import re
from collections.abc import Callable, Iterable, Iterator

from clearformer.documents.segments import Fragment
from clearformer.text.kept_numbers import NUMBER

_URL = r"(?:https?|ftp|file|git|ssh|mailto|urn|doi):[^\s<>\"'“”‘’（）。，、]*[^\s<>\"'“”‘’.,;:!?)\]}（）。，、]"
_WWW = r"\bwww\.[\w.-]+\.\w+(?:/[^\s<>\"'（）。，、]*[\w/])?"
_MAIL = r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
_CONVERSION = (
    r"%(?:\d+\$)?(?:\(\w+\))?[-+#0']*(?:\d+|\*)?(?:\.(?:\d+|\*)?)?(?:hh|ll|[hlLzZjtqI])?"
    r"[diouxXeEfFgGcrsapnmbYHMSTB@]"
)
# Behind a digit a percent sign is a percent sign, unless a letter ends there: 50%s is none, and 50% safe is not.
_PRINTF = rf"(?<!\d){_CONVERSION}|{_CONVERSION}(?![A-Za-z])"
_PERCENT_NAMED = r"%\(\w+\)[-+ #0]*\d*(?:\.\d+)?[a-zA-Z]|%%|%[-+#0.\d*]*<\w+>"
_PERCENT_NUMBERED = r"%\d{1,2}(?![\d$.]|\s*%|[a-zA-Z])|%\{\w+\}|%L\d"
_BRACES = r"\$?\{\{[^{}\n]*\}\}|\$?\{[\w.!:\[\]%,+<>^=-]*\}|\{%[^{}\n]*%\}|\$[A-Za-z_]\w*|\$\(\w+\)|\ufffc"
_CODE = r"`[^`\n]+`"
_PATH = r"(?<![\w/])(?:~|\.{1,2})?/(?:[\w.@+-]+/)*[\w.@+-]*\w/?|\b[A-Za-z]:\\[\w\\.-]+|\b[\w-]+(?:/[\w.-]+)+\.\w+"
_NAME = r"\b\w+\(\)|\b\w*[a-z]_[a-z]\w*\b|\b[A-Z]+_[A-Z_]+\b|--[a-z][\w-]+"
_FILE = r"\b[\w-]+\.(?:py|txt|md|html|json|toml|cfg|rst|xml|yaml|yml|sh|c|h|js)\b"
_KEPT = re.compile("|".join(f"(?:{one})" for one in (
    _URL, _WWW, _MAIL, _CODE, _BRACES, _PERCENT_NAMED, _PERCENT_NUMBERED, _PRINTF, _NAME, _FILE, _PATH
)))  # fmt: skip

_BY_ORDER = re.compile(r"%[-+#0]*[\d.*]*[hlLzjt]*[A-Za-z@]|\{\}")


def guarded(pieces: Iterable[Fragment], escape: Callable[[str], str]) -> Iterator[Fragment]:
    """The same pieces, with what must be kept taken out of the words. escape: how the file writes words."""
    for piece in pieces:
        if piece.kind != "words":
            yield piece
            continue
        last = 0
        for found in _KEPT.finditer(piece.text):
            if found.start() > last:
                yield Fragment(piece.text[last : found.start()])
            yield Fragment(escape(found[0]), "kept")
            last = found.end()
        if last < len(piece.text):
            yield Fragment(piece.text[last:])


def around_numbers(text: str) -> list[Fragment]:
    """A text with its numbers as kept items."""
    pieces, last = [], 0
    for found in NUMBER.finditer(text):
        pieces += [Fragment(text[last : found.start()]), Fragment(found[0], "kept")]
        last = found.end()
    return [piece for piece in (*pieces, Fragment(text[last:])) if piece.text]


def in_order(before: Iterable[str], after: Iterable[str]) -> bool:
    """Whether placeholders that are filled by their order (%s, {}) are still in it."""
    return [one for one in before if _BY_ORDER.fullmatch(one)] == [one for one in after if _BY_ORDER.fullmatch(one)]
