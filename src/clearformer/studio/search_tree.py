"""What a drawing of a beam search shows: every candidate, what became of it, and the path of the answer."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from clearformer.figures.sheet import Table, TabledFigure
from clearformer.figures.tree_drawing import Branch, Tree

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
COLUMNS = ("node", "parent", "step", "token", "token_log_prob", "log_prob", "divisor", "score", "fate")
LEGEND = "bold: the answer · grey: cut · bar: probability of the token, number: its logarithm"

Node = Mapping[str, Any]


def search_figure(nodes: Sequence[Node], best: int | None) -> TabledFigure:
    """nodes: as `Writer.tree` presents them, each at the place of its own id; best: the answer's last node."""
    tree = Tree(branches=[_branch(node) for node in nodes], best=best, legend=LEGEND)
    return TabledFigure(tree, Table(COLUMNS, [_row(node) for node in nodes]))


def _branch(node: Node) -> Branch:
    log_prob = -math.inf if node["token_log_prob"] is None else node["token_log_prob"]
    return Branch(
        parent=node["parent"],
        depth=node["depth"],
        label=node["token"]["text"].strip() or "␣" if node["token"] else "start",
        number=f"{log_prob:.2f}".replace("-", "−") if node["depth"] else "",
        share=math.exp(log_prob) if node["depth"] else 0.0,
        rank=-math.inf if node["log_prob"] is None else node["log_prob"],
        alive=node["fate"] in ALIVE,
        marked=node["fate"] == "finished",
    )


def _row(node: Node) -> tuple[str | int | float | None, ...]:
    return (
        *(node["id"], node["parent"], node["depth"], node["token"]["text"] if node["token"] else ""),
        *(node[name] for name in ("token_log_prob", "log_prob", "divisor", "score")),
        FATES.get(node["fate"], node["fate"].replace("_", " ")),
    )
