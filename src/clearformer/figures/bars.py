"""Numbers as horizontal bars with their names: for a few values that are compared at a glance."""

from collections.abc import Sequence
from dataclasses import dataclass

from clearformer.figures.palette import INK, series_style
from clearformer.figures.sheet import HEADER, breadth, rectangle, rule, sheet, words

LONGEST, ROW = 300.0, 26.0


@dataclass(frozen=True)
class Bar:
    """A name and a number; the number is also written behind the bar."""

    name: str
    value: float


@dataclass(frozen=True, kw_only=True)
class Bars:
    """The picture; bars of negative numbers point to the left."""

    bars: Sequence[Bar]

    def svg(self, title: str) -> str:
        """The whole sheet."""
        low = min(0.0, *(bar.value for bar in self.bars))
        high = max(0.0, *(bar.value for bar in self.bars))
        unit = LONGEST / ((high - low) or 1.0)
        left = 30 + max(breadth(bar.name) for bar in self.bars) + (60 if low < 0 else 0)
        zero = left - low * unit
        parts = []
        for row, bar in enumerate(self.bars):
            y = HEADER + 8 + row * ROW
            length = abs(bar.value) * unit
            start = zero if bar.value >= 0 else zero - length
            parts.append(words(left - (68 if low < 0 else 8), y + 13, bar.name, "end", fill=INK))
            parts.append(rectangle(start, y, round(length, 1), 17, series_style(0)[0]))
            behind = (zero + length + 6, "start") if bar.value >= 0 else (start - 6, "end")
            parts.append(words(behind[0], y + 13, _written(bar.value), behind[1], size=11))
        parts.append(rule(zero, HEADER + 2, zero, HEADER + 8 + len(self.bars) * ROW))
        return sheet(left + LONGEST + 90, HEADER + 24 + len(self.bars) * ROW, title, parts)


def _written(value: float) -> str:
    """Four digits, or a whole number with commas."""
    return (f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}").replace("-", "−")
