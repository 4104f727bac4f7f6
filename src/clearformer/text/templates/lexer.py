"""A template as tokens: the text outside of tags, and the names, strings, numbers and signs inside them.

White space is dropped where Jinja drops it with `trim_blocks` and `lstrip_blocks`, which chat templates are written
for: the line end behind a block, the blanks before a block that begins its line, and all of it beside a minus sign.
"""

import re
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from clearformer.text.templates.budget import TemplateError

TokenKind = Literal["text", "open", "close", "name", "string", "number", "sign", "end"]

_OPEN = re.compile(r"(\{\{|\{%|\{#)([-+]?)")
_CLOSE = {
    "{{": re.compile(r"-\}\}\s*|\}\}"),
    "{%": re.compile(r"\+%\}|-%\}\s*|%\}\n?"),
    "{#": re.compile(r"\+#\}|-#\}\s*|#\}\n?"),
}
_INSIDE = re.compile(
    r"(?P<blank>\s+)|(?P<name>[^\W\d]\w*)|(?P<number>\d+(?:\.\d+)?)"
    r"|(?P<string>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
    r"|(?P<sign>==|!=|<=|>=|//|\*\*|[-+*/%~<>=.,:|()\[\]{}])",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{1,3}|\n|N\{|[\\'\"abfnrtv])")
_ESCAPED: dict[str | Any, str] = dict(zip("\\'\"abfnrtv\n", [*"\\'\"\a\b\f\n\r\t\v", ""], strict=True))


class TemplateToken(NamedTuple):
    """A piece of a template. text: as it means, without quotes and escapes."""

    kind: TokenKind
    text: str
    line: int


def read_tokens(source: str) -> list[TemplateToken]:
    """All tokens, and one that says where the template ends."""
    lexer = Lexer(re.sub(r"\r\n?", "\n", source).removesuffix("\n"))
    return [*lexer.tokens(), TemplateToken("end", "the end of the template", lexer.line)]


class Lexer:
    """Goes through a template once, from left to right."""

    def __init__(self, source: str) -> None:
        self.source, self.place, self.line = source, 0, 1

    def tokens(self) -> Iterator[TemplateToken]:
        """What is outside of tags and what is inside, in turn."""
        while opened := _OPEN.search(self.source, self.place):
            brace, sign = opened.groups()
            line_begins = self.place == 0 or self.source[self.place - 1] == "\n"
            text = _before(self.source[self.place : opened.start()], brace, sign, line_begins)
            if text:
                yield TemplateToken("text", text, self.line)
            self._go_to(opened.end())
            if brace == "{#":
                self._go_to(self._end_of_comment())
                continue
            yield TemplateToken("open", brace, self.line)
            yield from self._inside(brace)
            yield TemplateToken("close", brace, self.line)
        if self.place < len(self.source):
            yield TemplateToken("text", self.source[self.place :], self.line)

    def _inside(self, brace: str) -> Iterator[TemplateToken]:
        """The tokens of one tag."""
        brackets = 0
        while brackets or not (closed := _CLOSE[brace].match(self.source, self.place)):  # }} may close two dictionaries
            found = _INSIDE.match(self.source, self.place)
            if found is None:
                left = self.source[self.place : self.place + 1]
                what = repr(left) if left else "the end of the template"
                raise TemplateError(f"line {self.line}: {what} inside a tag is not understood")
            if found["sign"]:
                brackets += (found[0] in "([{") - (found[0] in ")]}")
                yield TemplateToken("sign", found[0], self.line)
            elif found["name"] or found["number"]:
                yield TemplateToken("name" if found["name"] else "number", found[0], self.line)
            elif found["string"]:
                yield TemplateToken("string", _unescaped(found[0][1:-1], self.line), self.line)
            self._go_to(found.end())
        self._go_to(closed.end())

    def _end_of_comment(self) -> int:
        found = _CLOSE["{#"].search(self.source, self.place)
        if found is None:
            raise TemplateError(f"line {self.line}: a comment does not end")
        return found.end()

    def _go_to(self, place: int) -> None:
        self.line += self.source.count("\n", self.place, place)
        self.place = place


def _before(text: str, brace: str, sign: str, line_begins: bool) -> str:
    """The text before a tag, without the blanks that the tag drops."""
    if sign == "-":
        return text.rstrip()
    begin = text.rfind("\n") + 1
    alone = (begin > 0 or line_begins) and text[begin:].isspace()
    return text[:begin] if alone and brace != "{{" and sign != "+" else text


def _unescaped(text: str, line: int) -> str:
    """A string as it means; a backslash before any other letter stays, as in Python."""

    def meant(found: re.Match[str]) -> str:
        code = found[1]
        if code in _ESCAPED:
            return _ESCAPED[code]
        number = int(code[1:], 16) if code[0] in "xuU" else int(code, 8) if code != "N{" else -1
        if not 0 <= number <= 0x10FFFF:
            raise TemplateError(f"line {line}: the escape \\{code} is not understood")
        return chr(number)

    return _ESCAPE.sub(meant, text)
