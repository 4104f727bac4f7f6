"""The lab on a page: its experiments in both languages, what they found, and a quick run of one."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from clearformer.lab.bilingual import LANGUAGES, Bilingual, Sayable, say
from clearformer.lab.catalogue import find_experiment, list_experiments
from clearformer.lab.conduct import conduct, is_kept
from clearformer.lab.course import read_course, shipped_drawing, shipped_measurements
from clearformer.lab.experiment import Experiment, Findings, MeasuredTable, Scale
from clearformer.lab.kept_results import KeptResults, usual_folder
from clearformer.lab.told import cells, checks_table
from clearformer.lab.verdicts import VERDICTS
from clearformer.serving.admission import Turns

SHORT = 2.0  # minutes of a full run; what takes longer is not measured while a page waits
SCALES: tuple[Scale, ...] = ("full", "quick")


class ShownLab:
    """Answers about the experiments; what is measured is kept where the command line keeps it."""

    def __init__(self, turns: Turns) -> None:
        self._turns, self._kept = turns, KeptResults(usual_folder())

    def list(self) -> list[dict[str, Any]]:
        """Every experiment in the order of the questions."""
        return [self._listed(one) for one in list_experiments()]

    def experiment(self, name: str) -> dict[str, Any]:
        """One with its answer and what the last run found; where nothing of it is kept, with what the course shows."""
        experiment = find_experiment(name)
        for scale in SCALES:
            if is_kept(experiment, scale, self._kept):
                found = conduct(experiment, scale, kept=self._kept)
                return {**self._told(experiment), "scale": scale, "found": _found(found)}
        return {**self._told(experiment), "scale": "shipped", "found": _shipped(experiment)}

    def measure(self, name: str) -> dict[str, Any]:
        """The same after a quick run."""
        experiment = find_experiment(name)
        if experiment.minutes > SHORT:
            raise ValueError(f"{name} takes minutes; run it on the command line: clearformer lab {name}")
        with self._turns.mine():
            found = conduct(experiment, "quick", kept=self._kept)
        return {**self._told(experiment), "scale": "quick", "found": _found(found)}

    def _listed(self, experiment: Experiment) -> dict[str, Any]:
        last, shipped = self._kept.last(experiment.name), shipped_measurements().get(experiment.name)
        verdict = last.verdict if last is not None else None if shipped is None else shipped.verdict
        return {
            "name": experiment.name,
            "number": experiment.number,
            "question": asdict(experiment.question),
            "claim": asdict(experiment.claim),
            "minutes": experiment.minutes,
            "verdict": None if verdict is None else _verdict(verdict),
            "last": None if last is None else {"scale": last.scale, "date": last.date},
        }

    def _told(self, experiment: Experiment) -> dict[str, Any]:
        return {
            **self._listed(experiment),
            "expected": asdict(experiment.expected),
            "answer": asdict(experiment.answer),
            "code": list(experiment.code),
            "short": experiment.minutes <= SHORT,
            "timed": experiment.timed,
        }


def _verdict(verdict: str) -> dict[str, str]:
    """In both languages, and as a word that a style sheet can use."""
    text = next((text for name, text in VERDICTS.items() if name == verdict), Bilingual(verdict, verdict))
    return {**asdict(text), "kind": verdict.replace(" ", "-")}


def _found(findings: Findings) -> dict[str, Any]:
    return {
        "verdict": _verdict(findings.verdict),
        "tables": [_table(one) for one in (*findings.tables, checks_table(findings))],
        "figures": [
            {"name": one.name, "caption": asdict(one.caption), "svg": asdict(one.svg)} for one in findings.figures
        ],
    }


def _shipped(experiment: Experiment) -> dict[str, Any] | None:
    """What was measured when the course was made: a line for each number, and the figures that a page shows."""
    noted = shipped_measurements().get(experiment.name)
    if noted is None:
        return None
    lines = MeasuredTable(
        title=Bilingual("Measured for the course", "编写课程时的测量"),
        columns=[Bilingual("measured", "实测")],
        rows=[[line] for line in noted.lines.values()],
    )
    shown = {figure: page.captions[figure] for page in reversed(read_course()) for figure in page.figures}
    figures = [
        {"name": figure, "caption": asdict(caption), "svg": asdict(shipped_drawing(experiment.name, figure))}
        for (name, figure), caption in shown.items()
        if name == experiment.name
    ]
    return {"verdict": _verdict(noted.verdict), "tables": [_table(lines)], "figures": figures}


def _table(table: MeasuredTable) -> dict[str, Any]:
    """Text in each language: numbers are written as the report writes them."""
    return {
        "title": asdict(table.title),
        "columns": _in_each(table.columns),
        "rows": [_in_each(row) for row in table.rows],
    }


def _in_each(row: Sequence[Sayable | float | int]) -> dict[str, list[str]]:
    return {language: [say(one, language) for one in cells(row, language)] for language in LANGUAGES}
