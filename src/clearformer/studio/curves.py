"""Training runs as lines over steps, one chart a quantity."""

import math
from collections.abc import Iterator, Mapping, Sequence

from clearformer.studio.sheet import HEADER, INK, LINE, SheetTable, sheet, words

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 460.0, 220.0, 60.0, 16.0, 30.0, 36.0
ACROSS = 2
COLOURS = ("#6a3ea8", "#1f7a8c", "#b3541e", "#3b6e22", "#a8326b", "#4a5568", "#8a6d00", "#2b4c9b")
DASHES = ("", "6 3", "2 3", "8 3 2 3")
TITLES = {
    "train_loss": "training loss",
    "validation_loss": "development loss",
    "learning_rate": "learning rate",
    "gradient_norm": "gradient norm",
    "bleu": "development BLEU",
    "tokens_per_second": "target tokens a second",
}
Points = Sequence[tuple[int, float]]


class Curves:
    """runs: the name of a run -> the name of a quantity -> (step, value)."""

    def __init__(self, runs: Mapping[str, Mapping[str, Points]]) -> None:
        self.runs = runs
        self.quantities = [name for name in TITLES if any(run.get(name) for run in runs.values())]
        if not self.quantities:
            raise ValueError("nothing was recorded yet; let the run take a few steps")

    def table(self) -> SheetTable:
        """One row a point."""
        rows = [
            (name, quantity, step, float(value))
            for name, run in self.runs.items()
            for quantity in self.quantities
            for step, value in run.get(quantity, ())
        ]
        return SheetTable(("run", "quantity", "step", "value"), rows)

    def csv(self) -> str:
        return self.table().csv()

    def json(self) -> str:
        return self.table().json()

    def svg(self, title: str) -> str:
        """All quantities; a run has one colour and one kind of dashes in every chart."""
        parts: list[str] = []
        for place, quantity in enumerate(self.quantities):
            x, y = (place % ACROSS) * WIDTH, HEADER + (place // ACROSS) * HEIGHT
            parts += _chart(TITLES[quantity], {name: run.get(quantity, ()) for name, run in self.runs.items()}, x, y)
        down = -(-len(self.quantities) // ACROSS)
        base = HEADER + down * HEIGHT + 16
        for number, name in enumerate(self.runs):
            x = LEFT + number * 200
            parts.append(f'<line x1="{x}" x2="{x + 26}" y1="{base - 4}" y2="{base - 4}" {_stroke(number)}/>')
            parts.append(words(x + 32, base, name, fill=INK))
        return sheet(max(ACROSS * WIDTH, LEFT + 200 * len(self.runs)), base + 20, title, parts)


def _chart(title: str, lines: Mapping[str, Points], x: float, y: float) -> Iterator[str]:
    points = [(step, value) for line in lines.values() for step, value in line if math.isfinite(value)]
    if not points:
        return
    across, up = _span([step for step, _ in points]), _span([value for _, value in points])
    width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def place(step: float, value: float) -> tuple[float, float]:
        right = x + LEFT + width * (step - across[0]) / (across[1] - across[0])
        return right, y + TOP + height * (1 - (value - up[0]) / (up[1] - up[0]))

    yield words(x + LEFT, y + 18, title, size=13, fill=INK)
    for tick in _ticks(*up, 4):
        level = place(across[0], tick)[1]
        ends = f'x1="{x + LEFT:.1f}" x2="{x + WIDTH - RIGHT:.1f}" y1="{level:.1f}" y2="{level:.1f}"'
        yield f'<line {ends} stroke="{LINE}"/>'
        yield words(x + LEFT - 6, level + 4, f"{tick:g}", "end", size=11)
    for tick in _ticks(*across, 5):
        yield words(place(tick, up[0])[0], y + HEIGHT - BOTTOM + 16, f"{tick:,.0f}", "middle", size=11)
    yield words(x + WIDTH - RIGHT, y + HEIGHT - 4, "step", "end", size=11)
    for number, line in enumerate(lines.values()):
        places = [place(step, value) for step, value in line if math.isfinite(value)]
        if len(places) == 1:
            colour, [(px, py)] = COLOURS[number % len(COLOURS)], places
            yield f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3" fill="{colour}"/>'
        elif places:
            path = " ".join(f"{px:.1f},{py:.1f}" for px, py in places)
            yield f'<polyline points="{path}" fill="none" {_stroke(number)}/>'


def _stroke(number: int) -> str:
    dashes = DASHES[number % len(DASHES)]
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'stroke="{COLOURS[number % len(COLOURS)]}" stroke-width="1.6"{dashed}'


def _span(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    return (low, high) if high > low else (low - max(abs(low), 1e-9) / 2, high + max(abs(high), 1e-9) / 2)


def _ticks(low: float, high: float, wanted: int) -> Iterator[float]:
    """Round numbers between two bounds."""
    raw = (high - low) / wanted
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * 0.999)
    for count in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1):
        yield round(count * step, 12)
