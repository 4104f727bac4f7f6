"""The beam search as a picture: a column a step, in it every candidate, and what became of each."""

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from clearformer.studio.sheet import ACCENT, HEADER, INK, LINE, SOFT, TINT, SheetTable, box, sheet, words

COLUMN, ROW, WIDTH, HEIGHT, LETTERS = 132.0, 24.0, 104.0, 20.0, 9
# What went on or could have: the others were cut as soon as they were made.
ALIVE = {"start", "kept", "finished", "worse_than_finished", "search_stopped"}
FATES = {
    "start": "start",
    "kept": "kept",
    "finished": "finished",
    "outside_beam": "cut: outside the beam",
    "end_outside_beam": "cut: ended, but outside the beam",
    "finished_full": "cut: ended, but enough had finished before",
    "worse_than_finished": "cut: cannot beat the finished ones",
    "search_stopped": "cut: the search stopped",
}


class Branches:
    """A recorded search. nodes: as `Writer.tree` presents them; best: the number of the answer's last node."""

    def __init__(self, nodes: Sequence[dict[str, Any]], best: int | None) -> None:
        self.nodes = nodes
        self._best: set[int] = set()
        while best is not None:
            self._best.add(best)
            best = nodes[best]["parent"]

    def table(self) -> SheetTable:
        """One row a candidate."""
        names = ("node", "parent", "step", "token", "token_log_prob", "log_prob", "divisor", "score", "fate")
        rows = [
            (
                *(node["id"], node["parent"], node["depth"], node["token"]["text"] if node["token"] else ""),
                *(node[name] for name in ("token_log_prob", "log_prob", "divisor", "score")),
                FATES.get(node["fate"], node["fate"].replace("_", " ")),
            )
            for node in self.nodes
        ]
        return SheetTable(names, rows)

    def csv(self) -> str:
        return self.table().csv()

    def json(self) -> str:
        return self.table().json()

    def svg(self, title: str) -> str:
        """The best path in colour; a bar in a box is the token's probability, the number its logarithm."""
        places, depth, rows = self._arrange()
        parts = [words(20 + step * COLUMN, HEADER + 16, f"step {step}") for step in range(1, depth + 1)]
        for node in self.nodes:
            if node["parent"] is not None:
                parts.append(self._edge(node, places[node["parent"]], places[node["id"]]))
        for node in self.nodes:
            parts += self._box(node, *places[node["id"]])
        legend = "bold: the answer · grey: cut · bar: probability of the token, number: its logarithm"
        parts.append(words(20, HEADER + 44 + rows * ROW, legend))
        return sheet(40 + (depth + 1) * COLUMN, HEADER + 60 + rows * ROW, title, parts)

    def _arrange(self) -> tuple[dict[int, tuple[float, float]], int, int]:
        """Places by node; in a column what lives stands above what was cut, and better totals above worse ones."""
        columns: dict[int, list[dict[str, Any]]] = defaultdict(list)
        for node in self.nodes:
            columns[node["depth"]].append(node)
        places = {}
        for depth, column in columns.items():
            column.sort(key=lambda node: (node["fate"] not in ALIVE, -_number(node["log_prob"])))
            for row, node in enumerate(column):
                places[node["id"]] = 20 + depth * COLUMN, HEADER + 26 + row * ROW
        return places, max(columns), max(map(len, columns.values()))

    def _edge(self, node: dict[str, Any], start: tuple[float, float], end: tuple[float, float]) -> str:
        x1, y1, x2, y2 = start[0] + WIDTH, start[1] + HEIGHT / 2, end[0], end[1] + HEIGHT / 2
        best, alive = node["id"] in self._best, node["fate"] in ALIVE
        line = f'stroke="{ACCENT if best else SOFT if alive else LINE}" stroke-width="{2.5 if best else 1}"'
        curve = f"M{x1:.1f} {y1:.1f}C{x1 + 14:.1f} {y1:.1f} {x2 - 14:.1f} {y2:.1f} {x2:.1f} {y2:.1f}"
        return f'<path d="{curve}" fill="none" {line}/>'

    def _box(self, node: dict[str, Any], x: float, y: float) -> list[str]:
        best, alive = node["id"] in self._best, node["fate"] in ALIVE
        fill = TINT if node["fate"] == "finished" else "white"
        edge = ACCENT if best else SOFT if alive else LINE
        parts = [box(x, y, WIDTH, HEIGHT, fill=fill, edge=edge, thick=2 if best else 1)]
        said = node["token"]["text"].strip() or "␣" if node["token"] else "start"
        short = said if len(said) <= LETTERS else f"{said[: LETTERS - 1]}…"
        if node["depth"]:
            share = math.exp(_number(node["token_log_prob"]))
            parts.append(
                f'<rect x="{x:.1f}" y="{y + HEIGHT - 3:.1f}" width="{share * WIDTH:.1f}" height="3" fill="{ACCENT}" '
                'opacity="0.55"/>'
            )
            parts.append(words(x + WIDTH - 5, y + 14, f"{_number(node['token_log_prob']):.2f}", "end", size=11))
        return [*parts, words(x + 6, y + 14, short, fill=INK if alive else SOFT)]


def _number(value: float | None) -> float:
    return -math.inf if value is None else value
