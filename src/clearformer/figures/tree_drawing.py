"""A tree that grows to the right: one column per depth, in it one box per branch."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from clearformer.figures.palette import ACCENT, INK, LINE, SOFT, SURFACE, TINT
from clearformer.figures.sheet import HEADER, box, sheet, words

COLUMN, ROW, WIDTH, HEIGHT, LETTERS = 132.0, 24.0, 104.0, 20.0, 9

Place = tuple[float, float]


@dataclass(frozen=True, kw_only=True)
class Branch:
    """One box. parent: its place in the list; share: how long its bar is, from 0 to 1; number: what stands at its
    right end; rank: more stands higher; alive: drawn in full strength; marked: on a tint."""

    parent: int | None
    depth: int
    label: str
    number: str = ""
    share: float = 0.0
    rank: float = 0.0
    alive: bool = True
    marked: bool = False


@dataclass(frozen=True, kw_only=True)
class Tree:
    """Branches, parents before their children. best: the last one of the path in colour; column: names a depth."""

    branches: Sequence[Branch]
    best: int | None = None
    column: str = "step"
    legend: str = ""

    def svg(self, title: str) -> str:
        """The whole sheet."""
        places, depth, rows = self._arrange()
        best = self._path()
        parts = [words(20 + step * COLUMN, HEADER + 16, f"{self.column} {step}") for step in range(1, depth + 1)]
        for number, branch in enumerate(self.branches):
            if branch.parent is not None:
                parts.append(_edge(branch, places[branch.parent], places[number], best=number in best))
        for number, branch in enumerate(self.branches):
            parts += _box(branch, *places[number], best=number in best)
        parts.append(words(20, HEADER + 44 + rows * ROW, self.legend))
        return sheet(40 + (depth + 1) * COLUMN, HEADER + 60 + rows * ROW, title, parts)

    def _path(self) -> set[int]:
        """The branches from the root to the best one."""
        found: set[int] = set()
        number = self.best
        while number is not None:
            found.add(number)
            number = self.branches[number].parent
        return found

    def _arrange(self) -> tuple[list[Place], int, int]:
        """Places by branch, the greatest depth and the most rows; what is alive stands above what is not."""
        columns: dict[int, list[int]] = defaultdict(list)
        for number, branch in enumerate(self.branches):
            columns[branch.depth].append(number)
        places: list[Place] = [(0.0, 0.0)] * len(self.branches)
        for depth, column in columns.items():
            column.sort(key=lambda number: (not self.branches[number].alive, -self.branches[number].rank))
            for row, number in enumerate(column):
                places[number] = 20 + depth * COLUMN, HEADER + 26 + row * ROW
        return places, max(columns), max(map(len, columns.values()))


def _colour(branch: Branch, *, best: bool) -> str:
    return ACCENT if best else SOFT if branch.alive else LINE


def _edge(branch: Branch, start: Place, end: Place, *, best: bool) -> str:
    x1, y1, x2, y2 = start[0] + WIDTH, start[1] + HEIGHT / 2, end[0], end[1] + HEIGHT / 2
    line = f'stroke="{_colour(branch, best=best)}" stroke-width="{2.5 if best else 1}"'
    curve = f"M{x1:.1f} {y1:.1f}C{x1 + 14:.1f} {y1:.1f} {x2 - 14:.1f} {y2:.1f} {x2:.1f} {y2:.1f}"
    return f'<path d="{curve}" fill="none" {line}/>'


def _box(branch: Branch, x: float, y: float, *, best: bool) -> list[str]:
    fill, edge = TINT if branch.marked else SURFACE, _colour(branch, best=best)
    parts = [box(x, y, WIDTH, HEIGHT, fill=fill, edge=edge, thick=2 if best else 1)]
    if branch.share > 0:
        bar = f'x="{x:.1f}" y="{y + HEIGHT - 3:.1f}" width="{branch.share * WIDTH:.1f}" height="3"'
        parts.append(f'<rect {bar} fill="{ACCENT}" opacity="0.55"/>')
    if branch.number:
        parts.append(words(x + WIDTH - 5, y + 14, branch.number, "end", size=11))
    label = branch.label if len(branch.label) <= LETTERS else f"{branch.label[: LETTERS - 1]}…"
    return [*parts, words(x + 6, y + 14, label, fill=INK if branch.alive else SOFT)]
