"""A chart of lines, logarithmic unless said otherwise, as an SVG that needs nothing else."""

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape

Points = Sequence[tuple[float, float]]

LEFT, EDGE = 70, 440  # of the plot; the legend stands to its right and takes the room that it needs
HEIGHT, TOP, BOTTOM = 400, 40, 50
LETTER = 6.8  # an average one's width, generously
COLOURS = (
    "#0b5fff", "#d9480f", "#2b8a3e", "#862e9c", "#5c5f66", "#c2255c",
    "#0c8599", "#846358", "#e8a200", "#66a80f", "#1b2a49", "#f06595",
)  # fmt: skip
DECADE = (1, 2, 5)


class Scale:
    """From numbers to places along an axis, with its ticks."""

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        if not values or min(values) <= 0:
            raise ValueError("a logarithmic axis needs numbers above zero")
        self.low, self.high = math.log10(min(values)), math.log10(max(values))
        if self.high - self.low < 0.05:  # a single value stands in the middle
            self.low, self.high = self.low - 0.15, self.high + 0.15
        self.start, self.end = start, end

    def place(self, value: float) -> float:
        """Where a number stands."""
        return self.start + (math.log10(value) - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self) -> Iterator[float]:
        """Round numbers inside the range."""
        for power in range(math.floor(self.low), math.ceil(self.high) + 1):
            for digit in DECADE:
                value = digit * 10.0**power
                if self.low - 1e-9 <= math.log10(value) <= self.high + 1e-9:
                    yield value


class Straight:
    """An axis on which equal differences are equal distances, for scores."""

    def __init__(self, values: Sequence[float], start: float, end: float) -> None:
        self.low, self.high = math.floor(min(values)), math.ceil(max(values))
        self.high += self.high == self.low
        self.start, self.end = start, end

    def place(self, value: float) -> float:
        """Where a number stands."""
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self) -> Iterator[float]:
        """Whole numbers, about eight of them."""
        yield from range(self.low, self.high + 1, max(1, (self.high - self.low) // 8))


def chart(title: str, x_label: str, y_label: str, series: Mapping[str, Points], *, straight: bool = False) -> str:
    """The SVG. A series is a list of (x, y); the order of the series is that of the legend. straight: the y axis."""
    points = [point for line in series.values() for point in line]
    across = Scale([x for x, _ in points], LEFT, EDGE)
    width = EDGE + 40 + math.ceil(LETTER * max(map(len, series)))
    up = (Straight if straight else Scale)([y for _, y in points], HEIGHT - BOTTOM, TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" font-family="sans-serif" '
        f'font-size="12" role="img" aria-label="{escape(title)}">',
        f'<rect width="{width}" height="{HEIGHT}" fill="white"/>',
        _text(LEFT, 22, title, size=15),
        _text((LEFT + EDGE) / 2, HEIGHT - 12, x_label, anchor="middle"),
        f'<g transform="rotate(-90 16 {HEIGHT / 2})">{_text(16, HEIGHT / 2, y_label, anchor="middle")}</g>',
    ]
    for value in across.ticks():
        x = across.place(value)
        parts.append(_rule(x, TOP, x, HEIGHT - BOTTOM))
        parts.append(_text(x, HEIGHT - BOTTOM + 16, _short(value), anchor="middle"))
    for value in up.ticks():
        y = up.place(value)
        parts.append(_rule(LEFT, y, EDGE, y))
        parts.append(_text(LEFT - 6, y + 4, _short(value), anchor="end"))
    for number, (name, line) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        places = [(across.place(x), up.place(y)) for x, y in sorted(line)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
        level = TOP + 14 + 18 * number
        parts.append(f'<circle cx="{EDGE + 16}" cy="{level - 4}" r="4" fill="{colour}"/>')
        parts.append(_text(EDGE + 26, level, name))
    return "\n".join([*parts, "</svg>\n"])


def _text(x: float, y: float, words: str, *, anchor: str = "start", size: int = 12) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">{escape(words)}</text>'


def _rule(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="#dddddd"/>'


def _short(value: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"
