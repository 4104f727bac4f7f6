"""What the doctor found, for people and for programs."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from clearformer.text.doctor.findings import Finding, Kind, Severity, excerpt
from clearformer.text.doctor.pair_checks import Reason


@dataclass(frozen=True, kw_only=True)
class DoctorReport:
    """All counts, and the first few examples of each kind.

    lines: how many lines each file has. kept and left_out count pairs (or lines of a single file); together they are
    all pairs, and they are exactly what training will keep and leave out.
    """

    lines: dict[str, int]
    kept: int
    left_out: dict[Reason, int]
    counts: dict[Kind, int]
    findings: list[Finding]

    @property
    def fatal(self) -> bool:
        return any(kind.severity is Severity.FATAL for kind in self.counts)

    @property
    def total(self) -> int:
        return self.kept + sum(self.left_out.values())

    def of(self, kind: Kind) -> list[Finding]:
        """The examples of one kind."""
        return [finding for finding in self.findings if finding.kind is kind]

    def to_json(self) -> str:
        """One JSON object, for programs; the names of the kinds are stable."""
        described: dict[str, Any] = {
            "fatal": self.fatal,
            "lines": self.lines,
            "kept": self.kept,
            "left_out": {str(reason): count for reason, count in self.left_out.items()},
            "counts": {str(kind): count for kind, count in self.counts.items()},
            "findings": [
                {
                    "kind": str(finding.kind),
                    "severity": finding.kind.severity.name.lower(),
                    "file": finding.file,
                    "line": finding.line,
                    "detail": finding.detail,
                    "excerpt": finding.excerpt,
                    "remedy": finding.remedy,
                }
                for finding in self.findings
            ],
        }
        return json.dumps(described, ensure_ascii=False, indent=2)

    def to_text(self) -> str:
        """The worst first; under each kind one line per example."""
        out = [", ".join(f"{file}: {count:,} lines" for file, count in self.lines.items()), self.balance]
        for severity, of_severity in groupby(self.findings, key=lambda finding: finding.kind.severity):
            out += ["", f"{severity.value.capitalize()}:"]
            for kind, examples in groupby(of_severity, key=lambda finding: finding.kind):
                out += self._paragraph(kind, list(examples))
        if not self.findings:
            out.append("Nothing suspicious was found.")
        return "\n".join(out) + "\n"

    @property
    def balance(self) -> str:
        """How much is kept and what is left out for which reason, in one line."""
        left = ", ".join(f"{count:,} {reason}" for reason, count in self.left_out.items())
        text = f"{self.kept:,} of {self.total:,} kept for training"
        return f"{text}; left out: {left}" if left else text

    def _paragraph(self, kind: Kind, examples: list[Finding]) -> list[str]:
        times = self.counts[kind]
        head = f"  {kind} ({times:,}×): {kind.meaning}. {kind.remedy}"
        lines = [
            f"    {finding.place()}"
            + (f": {finding.detail}" if finding.detail else "")
            + (f": “{finding.excerpt}”" if finding.excerpt else "")
            for finding in examples
        ]
        more = [f"    … and {times - len(examples):,} more"] if times > len(examples) else []
        return [head, *lines, *more]


class Notebook:
    """Collects findings while files are read: everything is counted, the first few of each kind are cited."""

    def __init__(self, examples: int) -> None:
        self.examples = examples
        self._counts: Counter[Kind] = Counter()
        self._findings: dict[Kind, list[Finding]] = {}

    def note(self, kind: Kind, file: Path, line: int | None, detail: str = "", text: str = "", at: int = 0) -> None:
        """Record one finding; `text` is the line it is about and `at` the place in it to show."""
        self._counts[kind] += 1
        cited = self._findings.setdefault(kind, [])
        if len(cited) < self.examples:
            cited.append(Finding(kind=kind, file=str(file), line=line, detail=detail, excerpt=excerpt(text, at)))

    def add_uncited(self, kind: Kind, count: int) -> None:
        """Count more findings of a kind whose first examples are recorded."""
        if count > 0:
            self._counts[kind] += count

    def report(self, lines: dict[str, int], kept: int, left_out: dict[Reason, int]) -> DoctorReport:
        return DoctorReport(
            lines=lines,
            kept=kept,
            left_out=left_out,
            counts={kind: self._counts[kind] for kind in _by_severity(self._counts)},
            findings=[finding for kind in _by_severity(self._findings) for finding in self._findings[kind]],
        )


def _by_severity(kinds: Iterable[Kind]) -> list[Kind]:
    """Kinds are listed from bad to harmless, which is the order of every report."""
    order = {kind: (list(Severity).index(kind.severity), place) for place, kind in enumerate(Kind)}
    return sorted(kinds, key=order.__getitem__)
