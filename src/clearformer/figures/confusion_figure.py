"""Which class is taken for which, as a picture: rows are the true classes, columns what a model said."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from clearformer.figures.palette import INK, LINE, shade
from clearformer.figures.sheet import HEADER, Table, breadth, rectangle, sheet, words

CELL = 34.0
DARK = 0.55  # share of a row from which on white figures are read more easily
ROOM = 130.0  # the most that a name takes


@dataclass(frozen=True, kw_only=True)
class ConfusionFigure:
    """Counts with names. A cell is as dark as its share of its row, so that a rare class is seen as well."""

    labels: Sequence[str]
    counts: Sequence[Sequence[int]]

    def csv(self) -> str:
        """One line per cell."""
        rows = [
            (true, said, self.counts[row][column])
            for row, true in enumerate(self.labels)
            for column, said in enumerate(self.labels)
        ]
        return Table(("true", "said", "count"), rows).csv()

    def json(self) -> str:
        return json.dumps({"labels": list(self.labels), "counts": [list(row) for row in self.counts]})

    def svg(self, title: str) -> str:
        """Names at the left and above, the counts in the cells."""
        names = [_shortened(label) for label in self.labels]
        room = max((breadth(name) for name in names), default=0.0)
        left, top = 20 + room + 10, HEADER + 24 + 0.8 * room
        parts = [words(left, HEADER + 6, "what the model said →", fill=INK)]
        for place, name in enumerate(names):
            middle = (place + 0.5) * CELL
            turn = f' transform="rotate(-50 {left + middle:.1f} {top - 8:.1f})"'
            parts.append(words(left + middle, top - 8, name, turn=turn))
            parts.append(words(left - 8, top + middle + 4, name, "end"))
        for row, counts in enumerate(self.counts):
            total = sum(counts) or 1
            for column, count in enumerate(counts):
                parts += _cell(left + column * CELL, top + row * CELL, count, count / total)
        side = len(self.labels) * CELL
        parts.append(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{side:g}" height="{side:g}" fill="none" stroke="{LINE}"/>'
        )
        return sheet(max(left + side + 0.8 * room + 20, 320), top + side + 24, title, parts)


def _cell(x: float, y: float, count: int, share: float) -> list[str]:
    parts = [rectangle(x, y, CELL, CELL, shade(share, signed=False))]
    if count:
        shown = str(count) if count < 10_000 else f"{count / 1000:.0f}k"
        fill = "#ffffff" if share > DARK else INK
        parts.append(words(x + CELL / 2, y + CELL / 2 + 4, shown, "middle", size=11, fill=fill))
    return parts


def _shortened(label: str) -> str:
    """As much of a name as there is room for."""
    if breadth(label) <= ROOM:
        return label
    kept = label
    while kept and breadth(f"{kept}…") > ROOM:
        kept = kept[:-1]
    return f"{kept}…"
