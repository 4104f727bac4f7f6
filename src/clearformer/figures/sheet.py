"""What all figures share: a sheet to draw on, words and shapes as SVG, and a table of the numbers."""

import csv
import io
import json
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Protocol

from clearformer.figures.palette import INK, LINE, PAPER, SOFT

FONT = "font-family=\"system-ui, 'Noto Sans', 'Noto Sans CJK SC', sans-serif\""
HEADER = 40.0  # what the title takes
LETTER = 6.8  # the width of an average letter at size 12, generously


class Picture(Protocol):
    """Something that can be drawn."""

    def svg(self, title: str) -> str: ...


class Figure(Protocol):
    """A picture and its numbers in two forms."""

    def svg(self, title: str) -> str: ...
    def csv(self) -> str: ...
    def json(self) -> str: ...


@dataclass(frozen=True)
class Table:
    """Numbers with the names of their columns."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str | int | float | None]]

    def csv(self) -> str:
        """Every digit of every float; a missing value is empty."""
        out = io.StringIO()
        writer = csv.writer(out)
        writer.writerow(self.columns)
        writer.writerows([repr(value) if isinstance(value, float) else value for value in row] for row in self.rows)
        return out.getvalue()

    def json(self) -> str:
        """A list of objects."""
        rows = [dict(zip(self.columns, row, strict=True)) for row in self.rows]
        return json.dumps({"rows": rows}, ensure_ascii=False, indent=1)


@dataclass(frozen=True)
class TabledFigure:
    """A picture beside the table that it was drawn from."""

    picture: Picture
    table: Table

    def svg(self, title: str) -> str:
        return self.picture.svg(title)

    def csv(self) -> str:
        return self.table.csv()

    def json(self) -> str:
        return self.table.json()


def sheet(width: float, height: float, title: str, parts: Iterable[str]) -> str:
    """A whole file. A long title is set smaller rather than cut off."""
    shown = printable(title)
    size = min(15.0, 1.6 * LETTER * (width - 40) / max(breadth(shown), LETTER))
    title = escape(shown)
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
            f'height="{height:.0f}" {FONT} role="img">',
            f"<title>{title}</title>",
            f'<rect width="100%" height="100%" fill="{PAPER}"/>',
            f'<text x="20" y="26" font-size="{size:.1f}" font-weight="600" fill="{INK}">{title}</text>',
            *parts,
            "</svg>\n",
        ]
    )


def words(
    x: float, y: float, said: str, anchor: str = "start", *, turn: str = "", size: float = 12, fill: str = SOFT
) -> str:
    """A line of text; turn: a transform."""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{turn}'
    return f'<text {place} font-size="{size:g}" fill="{fill}">{escape(printable(said))}</text>'


def rectangle(x: float, y: float, width: float, height: float, fill: str) -> str:
    """A filled area without an edge."""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:g}" height="{height:g}" fill="{fill}"/>'


def box(
    x: float, y: float, width: float, height: float, *, fill: str = "none", edge: str = LINE, thick: float = 1
) -> str:
    """A rectangle with rounded corners."""
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect {place} rx="4" fill="{fill}" stroke="{edge}" stroke-width="{thick:g}"/>'


def rule(x1: float, y1: float, x2: float, y2: float, *, stroke: str = LINE, more: str = "") -> str:
    """A straight line. more: further attributes."""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{stroke}"{more}/>'


def breadth(said: str) -> float:
    """About how wide a text is at size 12; a Chinese character is a square."""
    return sum(12.0 if unicodedata.east_asian_width(letter) in "WF" else LETTER for letter in said)


def printable(said: str) -> str:
    """XML has no place for control characters; they are written as their numbers."""
    return "".join(c if c.isprintable() else f"U+{ord(c):04X}" for c in said)
