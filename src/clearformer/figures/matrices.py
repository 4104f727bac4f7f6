"""Matrices as pictures: rows down, columns across, darker is more."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

from clearformer.figures.palette import LINE, shade
from clearformer.figures.sheet import HEADER, Table, breadth, rectangle, sheet, words

SIDE = 22.0  # of a cell of a single matrix
READABLE = 14.0  # what a line of text needs
LEGEND = 40  # steps of the colour legend, each 4 wide


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A matrix with names. signed: both sides of zero occur."""

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: Sequence[Sequence[float]]
    signed: bool = False


@dataclass(frozen=True, kw_only=True)
class Matrices:
    """Panels side by side, `across` in a row; a single one has its rows and columns named."""

    panels: Sequence[Panel]
    across: int = 4
    cell: float | None = None  # the side of a cell; as the space allows if not given

    def csv(self) -> str:
        """One line per cell: panel, row, column, value, with every digit."""
        rows = [
            (panel.title, row, column, panel.rows[row], panel.columns[column], value)
            for panel in self.panels
            for row, values in enumerate(panel.values)
            for column, value in enumerate(values)
        ]
        return Table(("figure", "row", "column", "row_name", "column_name", "value"), rows).csv()

    def json(self) -> str:
        """The same, nested."""
        plain = [
            {"title": one.title, "rows": list(one.rows), "columns": list(one.columns), "values": list(one.values)}
            for one in self.panels
        ]
        return json.dumps({"figures": plain}, ensure_ascii=False, indent=1)

    def svg(self, title: str) -> str:
        """The picture, with a legend of its colours."""
        alone = len(self.panels) == 1
        widest = max(len(panel.columns) for panel in self.panels)
        size = self.cell or (SIDE if alone else min(14.0, max(2.5, 130 / widest)))
        left, top, gap = (*_room_for_names(self.panels[0]), 0.0) if alone else (0.0, 18.0, 16.0)
        names = 0.0 if alone else max(breadth(panel.title) for panel in self.panels)
        width = max(widest * size, names) + left + gap
        height = max(len(panel.rows) for panel in self.panels) * size + top + gap
        across = min(self.across, len(self.panels))
        down = -(-len(self.panels) // across)
        parts = []
        for place, panel in enumerate(self.panels):
            x, y = 20 + (place % across) * width, HEADER + (place // across) * height
            parts += _named(panel, x + left, y + top, size) if alone else [words(x, y + 12, panel.title)]
            parts += _cells(panel, x + left, y + top, size)
        parts += _legend(self.panels, 20 + left, HEADER + down * height + 14)
        # the last slanted name of a single matrix leans out of it
        return sheet(max(across * width + (60 if alone else 40), left + 220, 360), down * height + 100, title, parts)


def _room_for_names(panel: Panel) -> tuple[float, float]:
    """Left of the rows and above the columns, whose names stand at an angle."""
    left = max(map(breadth, panel.rows), default=0) + 12
    return left, 0.8 * max(map(breadth, panel.columns), default=0) + 20


def _named(panel: Panel, x: float, y: float, size: float) -> list[str]:
    """Names of rows and columns; where cells are small, of every n-th only, so that names do not run together."""
    every = math.ceil(READABLE / size)
    rows = range(0, len(panel.rows), every)
    parts = [words(x - 6, y + (row + 0.5) * size + 4, panel.rows[row], "end") for row in rows]
    for column in range(0, len(panel.columns), every):
        cx = x + (column + 0.5) * size
        parts.append(words(cx, y - 6, panel.columns[column], turn=f' transform="rotate(-50 {cx:.1f} {y - 6:.1f})"'))
    return parts


def _cells(panel: Panel, x: float, y: float, size: float) -> list[str]:
    limit = _limit([panel])
    parts = [
        rectangle(x + column * size, y + row * size, size, size, shade(value / limit, signed=panel.signed))
        for row, values in enumerate(panel.values)
        for column, value in enumerate(values)
    ]
    wide, high = len(panel.columns) * size, len(panel.rows) * size
    edge = f'x="{x:.1f}" y="{y:.1f}" width="{wide:g}" height="{high:g}" fill="none" stroke="{LINE}"'
    return [*parts, f"<rect {edge}/>"]


def _legend(panels: Sequence[Panel], x: float, y: float) -> list[str]:
    signed, limit = panels[0].signed, _limit(panels)
    shares = [(2 * step / LEGEND - 1) if signed else step / LEGEND for step in range(LEGEND)]
    return [
        *(rectangle(x + 4 * step, y, 4.5, 8, shade(share, signed=signed)) for step, share in enumerate(shares)),
        words(x, y + 22, f"{-limit if signed else 0:.3g}"),
        words(x + 4 * LEGEND, y + 22, f"{limit:.3g}", "end"),
    ]


def _limit(panels: Sequence[Panel]) -> float:
    """What the darkest colour stands for: one for probabilities, the largest size for signed values."""
    if not panels[0].signed:
        return 1.0
    return max((abs(value) for panel in panels for row in panel.values for value in row), default=0.0) or 1.0
