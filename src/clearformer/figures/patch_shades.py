"""A picture, and beside it the same picture with a number for each of its patches, shown as light: bright for more."""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass

from clearformer.figures.palette import INK
from clearformer.figures.sheet import HEADER, Table, rectangle, sheet, words

SIDE, MARGIN, GAP = 300.0, 20.0, 24.0  # of each picture
LEGEND = 40  # steps of the legend, each 4 wide
DARK = 0.85  # how much of a patch with the smallest number is hidden


def veils(rows: Sequence[Sequence[float]]) -> list[list[float]]:
    """How much of each patch is hidden: nothing of the one with the largest number, most of that with the smallest."""
    values = [value for row in rows for value in row]
    least, most = min(values), max(values)
    spread = most - least or 1.0
    return [[DARK * (most - value) / spread for value in row] for row in rows]


@dataclass(frozen=True, kw_only=True)
class PatchShades:
    """picture: a PNG file's bytes, a square. rows: one number for each patch, as the patches lie in it."""

    picture: bytes
    rows: Sequence[Sequence[float]]
    note: str = ""

    def csv(self) -> str:
        """One line per patch, with every digit."""
        lines = [(y, x, value) for y, row in enumerate(self.rows) for x, value in enumerate(row)]
        return Table(("row", "column", "share"), lines).csv()

    def json(self) -> str:
        """The same, nested."""
        return json.dumps({"rows": [list(row) for row in self.rows], "note": self.note}, indent=1)

    def svg(self, title: str) -> str:
        """Both pictures, and a legend of the colours."""
        packed = base64.b64encode(self.picture).decode()
        top, second = HEADER, MARGIN + SIDE + GAP
        parts = [
            f'<image x="{x:.1f}" y="{top:.1f}" width="{SIDE:g}" height="{SIDE:g}" '
            f'style="image-rendering:pixelated" href="data:image/png;base64,{packed}"/>'
            for x in (MARGIN, second)
        ]
        step = SIDE / max(1, len(self.rows))
        parts.append('<g shape-rendering="crispEdges" fill="#000000">')
        for y, row in enumerate(veils(self.rows)):
            for x, hidden in enumerate(row):
                place = f'x="{second + x * step:.2f}" y="{top + y * step:.2f}"'
                parts.append(f'<rect {place} width="{step:.2f}" height="{step:.2f}" opacity="{hidden:.3f}"/>')
        parts.append("</g>")
        bottom = top + SIDE
        for number in range(LEGEND):
            grey = round(255 * (1 - DARK * (1 - number / (LEGEND - 1))))
            parts.append(rectangle(second + 4 * number, bottom + 12, 4.5, 8, f"rgb({grey},{grey},{grey})"))
        values = [value for row in self.rows for value in row]
        parts.append(words(second, bottom + 34, f"{min(values):.4f}", size=11))
        parts.append(words(second + 4 * LEGEND, bottom + 34, f"{max(values):.4f}", "end", size=11))
        parts.append(words(MARGIN, bottom + 56, self.note, fill=INK, size=11))
        return sheet(second + SIDE + MARGIN, bottom + 72, title, parts)
