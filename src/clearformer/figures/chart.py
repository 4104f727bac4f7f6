"""Lines over common axes: one plot with its legend, or several plots that share one."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from clearformer.figures.axes import Axis, Linear, Logarithmic, short_number
from clearformer.figures.palette import INK, SOFT, series_style
from clearformer.figures.sheet import HEADER, breadth, rule, sheet, words

Points = Sequence[tuple[float, float]]

LEFT, RIGHT, TOP, BOTTOM = 62.0, 16.0, 30.0, 44.0  # around the axes
DOTTED = 40  # lines of fewer points show each of them


@dataclass(frozen=True, kw_only=True)
class Area:
    """Where on the sheet a plot stands."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, kw_only=True)
class Plot:
    """One pair of axes. series: by name, in the order of the legend; what is not a number is left out."""

    title: str = ""
    x_label: str
    y_label: str = ""
    series: Mapping[str, Points]
    log_x: bool = False
    log_y: bool = False

    def draw(self, area: Area) -> Iterator[str]:
        """Title, axes and lines."""
        lines = [_finite(line) for line in self.series.values()]
        points = [point for line in lines for point in line]
        if not points:
            return
        left, right = area.x + LEFT, area.x + area.width - RIGHT
        top, bottom = area.y + TOP, area.y + area.height - BOTTOM
        across = _axis([x for x, _ in points], left, right, log=self.log_x)
        up = _axis([y for _, y in points], bottom, top, log=self.log_y)
        yield words(left, area.y + 18, self.title, size=13, fill=INK)
        yield words(right, area.y + area.height - 8, self.x_label, "end", size=11)
        if self.y_label:
            turn = f' transform="rotate(-90 {area.x + 14:.1f} {top:.1f})"'
            yield words(area.x + 14, top, self.y_label, "end", turn=turn, size=11)
        yield from _grid(across, up, left, right, top, bottom)
        for number, line in enumerate(lines):
            yield from _line([(across.place(x), up.place(y)) for x, y in sorted(line)], number)


@dataclass(frozen=True, kw_only=True)
class Plots:
    """Plots of the same size side by side, and one legend under them: a series has one look in all of them."""

    plots: Sequence[Plot]
    across: int = 2
    width: float = 460.0
    height: float = 230.0

    def svg(self, title: str) -> str:
        """The whole sheet."""
        parts: list[str] = []
        for place, plot in enumerate(self.plots):
            x, y = (place % self.across) * self.width, HEADER + (place // self.across) * self.height
            parts += plot.draw(Area(x=x, y=y, width=self.width, height=self.height))
        names = list(dict.fromkeys(name for plot in self.plots for name in plot.series))
        base = HEADER + -(-len(self.plots) // self.across) * self.height + 16
        whole = min(self.across, len(self.plots)) * self.width
        column = 60 + max(map(breadth, names))
        in_a_row = max(1, int((whole - LEFT) // column))
        for number, name in enumerate(names):
            parts += _entry(number, name, LEFT + (number % in_a_row) * column, base + 18 * (number // in_a_row))
        rows = -(-len(names) // in_a_row)
        return sheet(max(whole, LEFT + column), base + 18 * rows + 6, title, parts)


def chart(title: str, x_label: str, y_label: str, series: Mapping[str, Points], *, straight: bool = False) -> str:
    """The SVG of one plot on logarithmic axes, its legend to the right. straight: the y axis is linear."""
    width, height = 460.0, 400.0
    plot = Plot(x_label=x_label, y_label=y_label, series=series, log_x=True, log_y=not straight)
    parts = list(plot.draw(Area(x=0, y=HEADER - 20, width=width, height=height - HEADER + 20)))
    for number, name in enumerate(series):
        parts += _entry(number, name, width + 4, HEADER + 24 + 18 * number)
    tall = max(height, HEADER + 30 + 18 * len(series))
    return sheet(width + 50 + math.ceil(max(map(breadth, series))), tall, title, parts)


def _axis(values: Sequence[float], start: float, end: float, *, log: bool) -> Axis:
    return Logarithmic(values, start, end) if log else Linear(values, start, end)


def _grid(across: Axis, up: Axis, left: float, right: float, top: float, bottom: float) -> Iterator[str]:
    for value in up.ticks():
        yield rule(left, up.place(value), right, up.place(value))
        yield words(left - 6, up.place(value) + 4, short_number(value), "end", size=11)
    for value in across.ticks():
        yield rule(across.place(value), top, across.place(value), bottom)
        yield words(across.place(value), bottom + 16, short_number(value), "middle", size=11)
    yield rule(left, bottom, right, bottom, stroke=SOFT)


def _line(places: Points, number: int) -> Iterator[str]:
    colour, _ = series_style(number)
    if len(places) > 1:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        yield f'<polyline points="{path}" fill="none" {_stroke(number)}/>'
    if len(places) < DOTTED:
        for x, y in places:
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>'


def _entry(number: int, name: str, x: float, y: float) -> Iterator[str]:
    """One line of a legend."""
    yield f'<line x1="{x:.1f}" x2="{x + 26:.1f}" y1="{y - 4:.1f}" y2="{y - 4:.1f}" {_stroke(number)}/>'
    yield words(x + 32, y, name, fill=INK)


def _stroke(number: int) -> str:
    colour, dashes = series_style(number)
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'stroke="{colour}" stroke-width="1.8"{dashed}'


def _finite(points: Points) -> list[tuple[float, float]]:
    return [(x, y) for x, y in points if math.isfinite(x) and math.isfinite(y)]
