"""What stands in the cells of a label column: one label, several labels, or a number."""

import json
import math
from collections import Counter
from collections.abc import Sequence
from typing import Literal

LabelKind = Literal["one", "several", "number"]
MARKS = "|;"  # between several labels of one cell; a comma is too common inside labels
OFTEN = 0.05  # share of cells with several labels, from which on a column has such cells
MOST_LABELS = 200
MANY_NUMBERS = 20  # different values, from which on numbers are no names of classes


def split_labels(cell: str) -> tuple[str, ...]:
    """`a|b`, `a;b` or `["a", "b"]` as labels in alphabetical order, each once. An empty cell has none."""
    stripped = cell.strip()
    if stripped.startswith("["):
        try:
            given = json.loads(stripped)
        except (ValueError, RecursionError):
            given = None
        if isinstance(given, list) and all(isinstance(one, str | int | float) for one in given):
            return _sorted(str(one) for one in given)
    mark = next((mark for mark in MARKS if mark in stripped), None)
    return _sorted([stripped] if mark is None else stripped.split(mark))


def _sorted(labels: object) -> tuple[str, ...]:
    return tuple(sorted({one.strip() for one in labels} - {""}))  # type: ignore[attr-defined]


def join_labels(labels: Sequence[str]) -> str:
    """A cell that `split_labels` reads, whatever the labels are made of."""
    return json.dumps(sorted(set(labels)), ensure_ascii=False)


def number_in(cell: str) -> float | None:
    """The number that a cell holds, or None."""
    try:
        number = float(cell)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def kind_of(cells: Sequence[str]) -> LabelKind:
    """What a label column holds, from a part of it.

    Several labels: some cells have more than one, and the labels inside repeat more than the cells do. Numbers: all
    cells are, and there are more values than anybody has classes.
    """
    different = Counter(cell.strip() for cell in cells)
    if all(number_in(cell) is not None for cell in different):
        whole = all(float(cell).is_integer() for cell in different)
        return "number" if len(different) > (MOST_LABELS if whole else MANY_NUMBERS) else "one"
    sets = [split_labels(cell) for cell in cells]
    inside = {label for one in sets for label in one}
    several = sum(len(one) > 1 for one in sets)
    lists = all(cell.startswith("[") for cell in different if cell)
    if not several or len(inside) > MOST_LABELS or max(map(len, inside)) > 60:
        return "one"
    # Were a mark part of the names, as in "rock|pop" for one shop's shelf, the parts would not stand alone or mix.
    return "several" if lists or (several >= OFTEN * len(cells) and len(inside) < len(different)) else "one"
