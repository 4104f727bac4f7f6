"""Findings as text for a terminal, and as plain data."""

import textwrap
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Protocol

from clearformer.lab.bilingual import Bilingual, Language, Sayable, say
from clearformer.lab.experiment import Experiment, Findings, MeasuredTable
from clearformer.lab.kept_results import LastRun
from clearformer.lab.sparkline import sparkline
from clearformer.lab.verdicts import STATES, VERDICTS, Check, number, spread

RUN = ("verdict", "scale", "date")


class Run(Protocol):
    """How an experiment ended, at which scale and when."""

    @property
    def verdict(self) -> str: ...

    @property
    def scale(self) -> str: ...

    @property
    def date(self) -> str: ...


LINE = 100  # letters; a Chinese character takes the place of two
COLON = Bilingual(": ", "：")
WORDS = {
    "says": Bilingual("the notes say", "笔记说"),
    "expected": Bilingual("expected", "预期"),
    "check": Bilingual("check", "检验"),
    "measured": Bilingual("measured", "实测"),
    "bound": Bilingual("holds if", "成立条件"),
    "result": Bilingual("result", "结果"),
    "claim": Bilingual("claim", "论断"),
    "condition": Bilingual("condition", "限制"),
    "verdict": Bilingual("verdict", "结论"),
    "question": Bilingual("question", "问题"),
    "never": Bilingual("not run on this machine yet", "尚未在本机运行"),
    "authors": Bilingual("measured by the authors", "作者实测"),
    "yours": Bilingual("your last run", "你上次的运行"),
    "full": Bilingual("full scale", "完整规模"),
    "quick": Bilingual("quick scale", "快速规模"),
    "times": Bilingual("measures time: differs from machine to machine", "测的是时间：因机器而异"),
}


def findings_lines(experiment: Experiment, findings: Findings, language: Language) -> Iterator[str]:
    """The question, the tables, the curves as sparklines, the checks, the verdict and the answer."""
    yield say(experiment.question, language)
    colon = COLON.said(language)
    yield f"{WORDS['says'].said(language)}{colon}{say(experiment.claim, language)}"
    yield f"{WORDS['expected'].said(language)}{colon}{say(experiment.expected, language)}"
    for table in findings.tables:
        yield ""
        yield from table_lines(table, language)
    lines = [line for figure in findings.figures for line in figure.lines]
    if lines:
        yield ""
        width = max(_breadth(say(label, language)) for label, _ in lines)
        yield from (f"{_padded(say(label, language), width)}  {sparkline(values)}" for label, values in lines)
    yield ""
    yield from table_lines(checks_table(findings), language)
    yield ""
    yield f"{WORDS['verdict'].said(language)}{colon}{VERDICTS[findings.verdict].said(language)}"
    if experiment.timed:
        yield f"({WORDS['times'].said(language)})"
    yield ""
    yield from textwrap.wrap(say(experiment.answer, language), LINE if language == "en" else LINE // 2)


def checks_table(findings: Findings) -> MeasuredTable:
    """Every check with its number and its bound."""
    rows: list[Sequence[Sayable]] = []
    for kind, checks in (("claim", findings.claims), ("condition", findings.conditions)):
        rows += [(WORDS[kind], one.says, spread(one.values), one.bounds, STATES[one.state]) for one in checks]
    columns: list[Sayable] = ["", *(WORDS[name] for name in ("check", "measured", "bound", "result"))]
    return MeasuredTable(title=Bilingual("From the numbers to the verdict", "从数字到结论"), columns=columns, rows=rows)


def table_lines(table: MeasuredTable, language: Language) -> Iterator[str]:
    """A table in columns; a Chinese character is as wide as two letters."""
    yield say(table.title, language)
    rows = [[say(name, language) for name in table.columns], *(cells(row, language) for row in table.rows)]
    widths = [max(_breadth(row[place]) for row in rows) for place in range(len(table.columns))]
    for row in rows:
        shown = (_padded(cell, width) for cell, width in zip(row, widths, strict=True))
        yield ("  " + "  ".join(shown)).rstrip()


def cells(row: Sequence[Sayable | float | int], language: Language) -> list[str]:
    """A row's cells as text."""
    return [number(one) if isinstance(one, int | float) else say(one, language) for one in row]


def findings_data(experiment: Experiment, findings: Findings, language: Language) -> dict[str, Any]:
    """Everything that was found as plain data."""
    return {
        **described(experiment, language),
        "verdict": findings.verdict,
        "checks": [
            _check(one, kind, language)
            for kind, checks in (("claim", findings.claims), ("condition", findings.conditions))
            for one in checks
        ],
        "tables": [
            {
                "title": say(table.title, language),
                "columns": [say(name, language) for name in table.columns],
                "rows": [
                    [say(one, language) if isinstance(one, Bilingual) else one for one in row] for row in table.rows
                ],
            }
            for table in findings.tables
        ],
        "figures": [figure.name for figure in findings.figures],
    }


def verdict_lines(authors: Run | None, last: Run | None, language: Language) -> Iterator[str]:
    """The verdict of the run that the course rests on, and apart from it the last run on this machine."""
    colon = COLON.said(language)
    if authors is not None:
        yield f"{WORDS['authors'].said(language)}{colon}{_ended(authors, language)}"
    never = WORDS["never"].said(language)
    yield never if last is None else f"{WORDS['yours'].said(language)}{colon}{_ended(last, language)}"


def _ended(run: Run, language: Language) -> str:
    verdict = next((text.said(language) for name, text in VERDICTS.items() if name == run.verdict), run.verdict)
    scale = WORDS[run.scale].said(language) if run.scale in WORDS else run.scale
    return f"{verdict} ({scale}, {run.date})" if language == "en" else f"{verdict}（{scale}，{run.date}）"


def described(
    experiment: Experiment, language: Language, last: LastRun | None = None, authors: Run | None = None
) -> dict[str, Any]:
    """What `lab --json` says of an experiment. last: how it ended the last time; authors: when the course was made."""
    return {
        "name": experiment.name,
        "number": experiment.number,
        "question": say(experiment.question, language),
        "claim": say(experiment.claim, language),
        "expected": say(experiment.expected, language),
        "minutes": experiment.minutes,
        "timed": experiment.timed,
        "last": None if last is None else asdict(last),
        "authors": None if authors is None else {name: getattr(authors, name) for name in RUN},
    }


def _check(check: Check, kind: str, language: Language) -> dict[str, Any]:
    return {
        "kind": kind,
        "says": say(check.says, language),
        "values": list(check.values),
        "low": check.low,
        "high": check.high,
        "state": check.state,
    }


def _breadth(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _breadth(text))
