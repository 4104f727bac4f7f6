"""What a model gets wrong, as people read it on a terminal: classes, confusions and the surest mistakes.

Columns are measured in cells of the terminal, of which a Chinese character takes two.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size

from clearformer.evaluation.report import SHOWN

if TYPE_CHECKING:
    from clearformer.evaluation.report import ClassScore, Confusion, ErrorReport, Mistake

NAME, HEADING, TEXT = 24, 9, 60  # cells that a name, the heading of a column and a text take at the most


def show_report(report: "ErrorReport") -> Iterator[str]:
    """The lines of a report, without its scores."""
    if report.classes:
        yield from ("", *_classes(report.classes))
    if report.confusion is not None and len(report.confusion.labels) > 1:
        yield from ("", *_confusion(report.confusion))
    if report.mistakes:
        yield from ("", *_mistakes(report.mistakes, report.mistaken))
    yield from report.notes
    if not (report.classes or report.mistakes or report.notes):
        yield "nothing was wrong"


def _classes(classes: Sequence["ClassScore"]) -> Iterator[str]:
    shown = classes[:SHOWN]
    names = _column([one.name for one in shown], "class")
    yield f"{names[0]}  precision    recall        F1    count"
    for name, one in zip(names[1:], shown, strict=True):
        yield (
            f"{name}   {100 * one.precision:6.2f} %  {100 * one.recall:6.2f} %  {100 * one.f1:6.2f} %  {one.count:7,}"
        )
    yield from _rest(len(classes) - len(shown))


def _confusion(table: "Confusion") -> Iterator[str]:
    shown = table.first(SHOWN)
    names = _column(shown.labels, "true \\ said")
    headings = [_right(_shortened(label, HEADING), HEADING) for label in shown.labels]
    yield "  ".join([names[0], *headings])
    for name, row in zip(names[1:], shown.counts, strict=True):
        yield "  ".join([name, *(f"{count:{HEADING},}" if count else _right("·", HEADING) for count in row)])
    yield from _rest(len(table.labels) - len(shown.labels))


def _rest(count: int) -> Iterator[str]:
    if count:
        yield f"and {count} rarer {'class' if count == 1 else 'classes'}, which report.json has"


def _mistakes(mistakes: Sequence["Mistake"], total: int) -> Iterator[str]:
    few = f"the {len(mistakes)} that the model was surest of" if total > len(mistakes) else "the surest first"
    yield f"{total:,} {'mistake' if total == 1 else 'mistakes'}; {few}:"
    for one in mistakes:
        place = f"{_shortened(one.place, TEXT)}: " if one.place else ""
        found, wanted = _shortened(_line(one.found), NAME), _shortened(_line(one.wanted), TEXT)
        yield f"  {100 * one.probability:5.1f} %  {found} instead of {wanted}"
        yield f"           {place}{_shortened(_line(one.text), TEXT)}"


def _line(text: str) -> str:
    return " ".join(text.split()) or '""'


def _column(names: Sequence[str], heading: str) -> list[str]:
    """A heading and names, padded to the same number of cells."""
    shown = [heading, *(_shortened(name, NAME) for name in names)]
    width = max(map(cell_len, shown))
    return [set_cell_size(name, width) for name in shown]


def _right(text: str, width: int) -> str:
    return " " * (width - cell_len(text)) + text


def _shortened(text: str, most: int) -> str:
    """At most so many cells; what is cut shows it."""
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    return plain if cell_len(plain) <= most else f"{set_cell_size(plain, most - 1).rstrip()}…"
