"""The Markdown that the course is written in, as HTML.

Headings, paragraphs, lists, tables, quotations, blocks of code, drawings on a line of their own; in a line: code,
emphasis and links. Everything else is text, and every text is escaped.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

INLINE = re.compile(r"`([^`]+)`|\*\*(.+?)\*\*|\*(?=\S)(.+?)(?<=\S)\*|\[([^\]]+)\]\(([^)\s]+)\)")
IMAGE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)")
INDEX = re.compile(r"(?<![A-Za-z0-9_])([A-Za-zδ])_(?:\((.+?)\)|([A-Za-z0-9]+)(?![A-Za-z0-9_]))")  # d_k, s_ij, h_(t−1)
ITEM = re.compile(r"(?:-|\d+\.) +(.*)")


@dataclass(frozen=True, kw_only=True)
class MarkedText:
    """How a text is turned into HTML. link: the address to point to, or None where there is none; image: a drawing by
    its path, with its description; table: what names a table for those who cannot see it; deeper: how many levels its
    headings stand below those of the file."""

    link: Callable[[str], str | None]
    image: Callable[[str, str], str]
    table: str
    deeper: int = 1

    def html(self, text: str) -> str:
        """The whole text."""
        return "\n".join(self._block(block) for block in blocks(text))

    def _block(self, lines: Sequence[str]) -> str:
        first = lines[0]
        if first.startswith("```"):
            return f'<pre tabindex="0"><code>{escape(chr(10).join(lines[1:-1]))}</code></pre>'
        if heading := re.match(r"(#+) (.*)", first):
            level = len(heading.group(1)) + self.deeper
            return f"<h{level}>{self.line(heading.group(2))}</h{level}>"
        if image := IMAGE.fullmatch(first.strip()):
            return self.image(image.group(2), image.group(1))
        if first.startswith(">"):
            return f"<blockquote><p>{self.line(' '.join(one.lstrip('> ') for one in lines))}</p></blockquote>"
        if first.startswith("|"):
            return self._table(lines)
        if ITEM.match(first):
            tag = "ul" if first.startswith("-") else "ol"
            return f"<{tag}>{''.join(f'<li>{self.line(item)}</li>' for item in _items(lines))}</{tag}>"
        return f"<p>{self.line(_joined(lines))}</p>"

    def _table(self, lines: Sequence[str]) -> str:
        """The first row has the names of the columns; the second is the line below them."""
        head, _, *rows = ([cell.strip() for cell in line.strip().strip("|").split("|")] for line in lines)
        names = "".join(f'<th scope="col">{self.line(cell)}</th>' if cell else "<td></td>" for cell in head)
        body = "".join("<tr>" + "".join(f"<td>{self.line(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        holder = f'<div class="wide" tabindex="0" role="group" aria-label="{escape(self.table)}">'
        return f"{holder}<table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table></div>"

    def line(self, text: str) -> str:
        """Text within a line."""
        return "".join(self._pieces(text))

    def _pieces(self, text: str) -> Iterator[str]:
        done = 0
        for found in INLINE.finditer(text):
            yield _indexed(text[done : found.start()])
            code, strong, soft, shown, target = found.groups()
            if code is not None:
                yield f"<code>{escape(code)}</code>"
            elif strong is not None:
                yield f"<strong>{self.line(strong)}</strong>"
            elif soft is not None:
                yield f"<em>{self.line(soft)}</em>"
            else:
                address = self.link(target)
                yield self.line(shown) if address is None else f'<a href="{escape(address)}">{self.line(shown)}</a>'
            done = found.end()
        yield _indexed(text[done:])


def blocks(text: str) -> Iterator[list[str]]:
    """Lines that belong together: a block of code to its end, everything else up to the next empty line."""
    gathered: list[str] = []
    fenced = False
    for line in text.splitlines():
        fence = line.startswith("```")
        if fence and not fenced and gathered:
            yield gathered
            gathered = []
        if line.strip() or fenced:
            gathered.append(line)
        ended = fence and fenced
        fenced = fenced != fence
        if gathered and (ended or (not fenced and not line.strip())):
            yield gathered
            gathered = []
    if gathered:
        yield gathered


def _indexed(text: str) -> str:
    """Plain text; what follows a letter and a low line is set lower."""
    return INDEX.sub(r"\1<sub>\2\3</sub>", escape(text))


def _items(lines: Sequence[str]) -> list[str]:
    """The texts of a list; a line that begins no item continues the one above."""
    items: list[list[str]] = []
    for line in lines:
        found = ITEM.match(line)
        if found:
            items.append([found.group(1)])
        else:
            items[-1].append(line.strip())
    return [_joined(item) for item in items]


def _joined(lines: Sequence[str]) -> str:
    """Lines as one; between two Chinese characters there is no space."""
    return re.sub(r"(?<=[\u3000-\u9fff\uff00-\uffef])\n(?=[\u3000-\u9fff\uff00-\uffef])", "", "\n".join(lines)).replace(
        "\n", " "
    )
