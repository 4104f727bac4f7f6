"""Figures as SVG and tables without a browser, for the command line.

The palette and the layout are those of the pages: rows are queries, columns keys, darker is more.
"""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from torch import Tensor

SEQUENTIAL = ((255, 255, 255), (222, 207, 240), (151, 108, 202), (61, 22, 112))
DIVERGING = ((22, 88, 150), (140, 190, 222), (252, 252, 250), (240, 165, 120), (165, 42, 20))
FONT = "font-family=\"system-ui, 'Noto Sans', 'Noto Sans CJK SC', sans-serif\""


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A matrix with names. signed: both sides of zero occur."""

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: Tensor
    signed: bool = False


def to_csv(panels: Sequence[Panel]) -> str:
    """One line a cell: panel, row, column, value, with every digit of the float32."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["figure", "row", "column", "row_name", "column_name", "value"])
    for panel in panels:
        for row, values in enumerate(panel.values.tolist()):
            for column, value in enumerate(values):
                writer.writerow([panel.title, row, column, panel.rows[row], panel.columns[column], repr(value)])
    return out.getvalue()


def to_json(panels: Sequence[Panel]) -> str:
    """The same, nested."""
    plain = [
        {"title": one.title, "rows": list(one.rows), "columns": list(one.columns), "values": one.values.tolist()}
        for one in panels
    ]
    return json.dumps({"figures": plain}, ensure_ascii=False, indent=1)


def to_svg(panels: Sequence[Panel], *, title: str, across: int = 4, cell: float | None = None) -> str:
    """Panels side by side, `across` in a row; a single one has its rows and columns named."""
    alone = len(panels) == 1
    widest = max(len(panel.columns) for panel in panels)
    size = cell or (22.0 if alone else min(14.0, max(2.5, 130 / widest)))
    left, top, gap = (96.0, 84.0, 0.0) if alone else (0.0, 18.0, 16.0)
    names = 0.0 if alone else max(6.8 * len(panel.title) for panel in panels)
    width = max(widest * size, names) + left + gap
    height = max(len(panel.rows) for panel in panels) * size + top + gap
    across = min(across, len(panels))
    down = -(-len(panels) // across)
    # a long title is set smaller rather than cut off
    full = max(across * width + 40, 260.0), down * height + 100
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {full[0]:.0f} {full[1]:.0f}" width="{full[0]:.0f}" '
        f'height="{full[1]:.0f}" {FONT}>',
        f"<title>{escape(title)}</title>",
        '<rect width="100%" height="100%" fill="rgb(251,250,247)"/>',
        f'<text x="20" y="26" font-size="{min(15.0, 1.7 * full[0] / max(len(title), 1)):.1f}" '
        f'font-weight="600" fill="rgb(30,29,34)">{escape(title)}</text>',
    ]
    for place, panel in enumerate(panels):
        x, y = 20 + (place % across) * width, 40 + (place // across) * height
        parts += _panel(panel, x, y, size=size, left=left, top=top, named=alone)
    parts += _legend(panels, 20 + left, 40 + down * height + 14)
    return "\n".join([*parts, "</svg>\n"])


def _panel(panel: Panel, x: float, y: float, *, size: float, left: float, top: float, named: bool) -> list[str]:
    limit = _limit([panel])
    parts = []
    if named:
        parts += [
            _text(x + left - 6, y + top + (row + 0.5) * size + 4, name, "end") for row, name in enumerate(panel.rows)
        ]
        for column, name in enumerate(panel.columns):
            cx = x + left + (column + 0.5) * size
            parts.append(
                _text(cx, y + top - 6, name, "start", turn=f' transform="rotate(-50 {cx:.1f} {y + top - 6:.1f})"')
            )
    else:
        parts.append(_text(x, y + 12, panel.title, "start"))
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
        _text(x, y + 22, f"{-limit if signed else 0:.3g}", "start"),
        _text(x + 160, y + 22, f"{limit:.3g}", "end"),
    ]


def _limit(panels: Sequence[Panel]) -> float:
    """What the darkest colour stands for: one for probabilities, the largest size for signed values."""
    if not panels[0].signed:
        return 1.0
    return max(max(float(panel.values.abs().max()) for panel in panels), 1e-12)


def _text(x: float, y: float, text: str, anchor: str, turn: str = "") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{turn}'
    return f'<text {place} font-size="12" fill="rgb(89,86,99)">{escape(text)}</text>'


def colour(share: float, *, signed: bool) -> str:
    """share: 0 … 1, or -1 … 1 where signed."""
    stops = DIVERGING if signed else SEQUENTIAL
    place = min(1.0, max(0.0, (share + 1) / 2 if signed else share)) * (len(stops) - 1)
    low = min(len(stops) - 2, int(place))
    mixed = (round(a + (place - low) * (b - a)) for a, b in zip(stops[low], stops[low + 1], strict=True))
    return f"rgb({','.join(map(str, mixed))})"
