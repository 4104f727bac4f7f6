"""Matrices as pictures, without a browser.

The palette and the layout are those of the pages: rows are queries, columns keys, darker is more.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from clearformer.studio.sheet import HEADER, SheetTable, sheet, words

SEQUENTIAL = ((255, 255, 255), (222, 207, 240), (151, 108, 202), (61, 22, 112))
DIVERGING = ((22, 88, 150), (140, 190, 222), (252, 252, 250), (240, 165, 120), (165, 42, 20))


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A matrix with names. signed: both sides of zero occur."""

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: Tensor
    signed: bool = False


@dataclass(frozen=True, kw_only=True)
class Matrices:
    """Panels side by side, `across` in a row; a single one has its rows and columns named."""

    panels: Sequence[Panel]
    across: int = 4
    cell: float | None = None  # the side of a cell; as the space allows if not given

    def csv(self) -> str:
        """One line a cell: panel, row, column, value, with every digit of the float32."""
        rows = [
            (panel.title, row, column, panel.rows[row], panel.columns[column], value)
            for panel in self.panels
            for row, values in enumerate(panel.values.tolist())
            for column, value in enumerate(values)
        ]
        return SheetTable(("figure", "row", "column", "row_name", "column_name", "value"), rows).csv()

    def json(self) -> str:
        """The same, nested."""
        plain = [
            {"title": one.title, "rows": list(one.rows), "columns": list(one.columns), "values": one.values.tolist()}
            for one in self.panels
        ]
        return json.dumps({"figures": plain}, ensure_ascii=False, indent=1)

    def svg(self, title: str) -> str:
        """The picture, with a legend of its colours."""
        alone = len(self.panels) == 1
        widest = max(len(panel.columns) for panel in self.panels)
        size = self.cell or (22.0 if alone else min(14.0, max(2.5, 130 / widest)))
        left, top, gap = (96.0, 84.0, 0.0) if alone else (0.0, 18.0, 16.0)
        names = 0.0 if alone else max(6.8 * len(panel.title) for panel in self.panels)
        width = max(widest * size, names) + left + gap
        height = max(len(panel.rows) for panel in self.panels) * size + top + gap
        across = min(self.across, len(self.panels))
        down = -(-len(self.panels) // across)
        parts = []
        for place, panel in enumerate(self.panels):
            x, y = 20 + (place % across) * width, HEADER + (place // across) * height
            parts += _panel(panel, x, y, size=size, left=left, top=top, named=alone)
        parts += _legend(self.panels, 20 + left, HEADER + down * height + 14)
        return sheet(max(across * width + 40, 260.0), down * height + 100, title, parts)


def _panel(panel: Panel, x: float, y: float, *, size: float, left: float, top: float, named: bool) -> list[str]:
    limit = _limit([panel])
    parts = []
    if named:
        parts += [
            words(x + left - 6, y + top + (row + 0.5) * size + 4, name, "end") for row, name in enumerate(panel.rows)
        ]
        for column, name in enumerate(panel.columns):
            cx = x + left + (column + 0.5) * size
            parts.append(
                words(cx, y + top - 6, name, "start", turn=f' transform="rotate(-50 {cx:.1f} {y + top - 6:.1f})"')
            )
    else:
        parts.append(words(x, y + 12, panel.title, "start"))
    for row, values in enumerate(panel.values.tolist()):
        for column, value in enumerate(values):
            fill = colour(value / limit, signed=panel.signed)
            cx, cy = x + left + column * size, y + top + row * size
            parts.append(f'<rect x="{cx:.1f}" y="{cy:.1f}" width="{size:g}" height="{size:g}" fill="{fill}"/>')
    wide, high = len(panel.columns) * size, len(panel.rows) * size
    parts.append(
        f'<rect x="{x + left:.1f}" y="{y + top:.1f}" width="{wide:g}" height="{high:g}" fill="none" '
        'stroke="rgb(222,218,210)"/>'
    )
    return parts


def _legend(panels: Sequence[Panel], x: float, y: float) -> list[str]:
    signed, limit = panels[0].signed, _limit(panels)
    steps = 40
    parts = [
        f'<rect x="{x + 4 * step:.1f}" y="{y:.1f}" width="4.5" height="8" '
        f'fill="{colour((2 * step / steps - 1) if signed else step / steps, signed=signed)}"/>'
        for step in range(steps)
    ]
    return [
        *parts,
        words(x, y + 22, f"{-limit if signed else 0:.3g}", "start"),
        words(x + 160, y + 22, f"{limit:.3g}", "end"),
    ]


def _limit(panels: Sequence[Panel]) -> float:
    """What the darkest colour stands for: one for probabilities, the largest size for signed values."""
    if not panels[0].signed:
        return 1.0
    return max(max(float(panel.values.abs().max()) for panel in panels), 1e-12)


def colour(share: float, *, signed: bool) -> str:
    """share: 0 … 1, or -1 … 1 where signed."""
    stops = DIVERGING if signed else SEQUENTIAL
    place = min(1.0, max(0.0, (share + 1) / 2 if signed else share)) * (len(stops) - 1)
    low = min(len(stops) - 2, int(place))
    mixed = (round(a + (place - low) * (b - a)) for a, b in zip(stops[low], stops[low + 1], strict=True))
    return f"rgb({','.join(map(str, mixed))})"
