"""What an experiment measured, as a line each: enough to stand beside a sentence that it corrects, and to be kept."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from clearformer.lab.bilingual import Bilingual, Language, Sayable, in_each, say
from clearformer.lab.experiment import Findings, MeasuredTable
from clearformer.lab.told import COLON, cells
from clearformer.lab.verdicts import Check, number, spread

NEEDS = Bilingual("for the claim to hold:", "说法若成立，应为")
BARE = ("number", "")  # columns whose names say nothing beside their values


@dataclass(frozen=True, kw_only=True)
class Noted:
    """A verdict, and the checks and rows of tables by their English names. scale, seeds, date: of that run, if kept."""

    verdict: str
    lines: Mapping[str, Bilingual]
    scale: str = ""
    seeds: int = 0
    date: str = ""


def note_findings(findings: Findings) -> Noted:
    """Every check and every row. Of rows with the same name the first stays, and a check's name is the check's."""
    lines = {name: line for table in reversed(findings.tables) for name, line in reversed(list(_rows(table)))}
    lines |= {one.says.en: _measured(one) for one in findings.conditions}
    lines |= {one.says.en: _claimed(one) for one in findings.claims}
    return Noted(verdict=findings.verdict, lines=lines)


def noted_data(noted: Noted) -> dict[str, Any]:
    """As JSON keeps it."""
    return {"verdict": noted.verdict, "lines": {name: asdict(line) for name, line in noted.lines.items()}}


def noted_from(kept: Mapping[str, Any]) -> Noted:
    """Back from JSON."""
    lines = {name: Bilingual(**line) for name, line in kept["lines"].items()}
    run = {name: kept[name] for name in ("scale", "seeds", "date") if name in kept}
    return Noted(verdict=kept["verdict"], lines=lines, **run)


def _measured(check: Check) -> Bilingual:
    """A number; the bound of a condition says when a limit was found, which nobody claims."""
    measured = spread(check.values)
    return Bilingual(f"{check.says.en}{COLON.en}{measured}", f"{check.says.zh}{COLON.zh}{measured}")


def _claimed(check: Check) -> Bilingual:
    """A number and the bound that it would need."""
    line = _measured(check)
    return Bilingual(f"{line.en} ({NEEDS.en} {check.bounds})", f"{line.zh}（{NEEDS.zh} {check.bounds}）")


def _rows(table: MeasuredTable) -> Iterator[tuple[str, Bilingual]]:
    """A row as a line: its name, then each cell behind the name of its column."""
    for name, *values in table.rows:
        label = _label(table.columns[0], name)
        yield say(label, "en"), Bilingual(_line(table, label, values, "en"), _line(table, label, values, "zh"))


def _label(column: Sayable, name: Sayable | float | int) -> Sayable:
    """A bare number is named by its column: the same number may begin rows of several tables."""
    if isinstance(name, int | float):
        return in_each(lambda language: f"{say(column, language)} {number(name)}")
    return name


def _line(table: MeasuredTable, label: Sayable, values: Sequence[Sayable | float | int], language: Language) -> str:
    told = []
    for column, cell in zip(table.columns[1:], cells(values, language), strict=True):
        name = "" if say(column, "en") in BARE else say(column, language)
        if cell:
            told.append(f"{name} {cell}".strip())
    comma = "; " if language == "en" else "；"
    return f"{say(label, language)}{COLON.said(language)}{comma.join(told)}"
