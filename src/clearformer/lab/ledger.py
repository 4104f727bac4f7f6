"""The notes' mistakes, one by one: what is written, what is so, and the experiments that measure it.

The sentences stand in `ledger.toml`.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Literal

from clearformer.lab.bilingual import Bilingual
from clearformer.lab.noted import Noted

Severity = Literal["wrong", "loose", "slip"]
SEVERITIES: dict[Severity, Bilingual] = {
    "wrong": Bilingual("wrong", "错误"),
    "loose": Bilingual("loose or incomplete", "不准确或不完整"),
    "slip": Bilingual("slip of the pen", "笔误"),
}


@dataclass(frozen=True, kw_only=True)
class LedgerEntry:
    """One mistake. said: the notes' own sentence in Chinese, and a translation; experiments: by name; measured: lines
    of theirs that correct it, each as "EXPERIMENT: the English name of a check or of a table's row"."""

    number: int
    severity: Severity
    said: Bilingual
    right: Bilingual
    experiments: Sequence[str] = ()
    measured: Sequence[str] = ()


@cache
def read_ledger() -> tuple[LedgerEntry, ...]:
    """All of them, in order."""
    table = tomllib.loads(files("clearformer.lab").joinpath("ledger.toml").read_text(encoding="utf-8"))
    return tuple(
        LedgerEntry(
            number=number,
            severity=one["severity"],
            said=Bilingual(**one["said"]),
            right=Bilingual(**one["right"]),
            experiments=tuple(one["experiments"]),
            measured=tuple(one.get("measured", ())),
        )
        for number, one in enumerate(table["mistakes"], start=1)
    )


def entries_of(experiment: str) -> list[LedgerEntry]:
    """The mistakes that an experiment measures."""
    return [entry for entry in read_ledger() if experiment in entry.experiments]


def measured_lines(entry: LedgerEntry, noted: Mapping[str, Noted]) -> Iterator[Bilingual]:
    """What was measured against a mistake, as far as the experiments have run."""
    for reference in entry.measured:
        experiment, _, line = reference.partition(": ")
        if experiment in noted and line in noted[experiment].lines:
            yield noted[experiment].lines[line]
