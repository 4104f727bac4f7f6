"""What is wrong with labelled texts, by file and line: gaps, contradictions, misspelt labels, repeats, tiny classes,
and what gives a label away.
"""

import difflib
import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from clearformer.data.readers.label_cells import LabelKind
from clearformer.data.readers.labelled import LabelledText, find_columns, read_labelled
from clearformer.data.readers.tables import read_rows
from clearformer.tasks.automatic.label_leaks import leaking_columns, leaking_words
from clearformer.tasks.label_goals import labels_of

FEW = 10  # texts of a class, below which little is learned of it
SHOWN = 5  # examples of each kind
ALIKE = 0.75  # of two labels' letters: one is perhaps a misspelling of the other
SELDOM = 0.1  # of the other's count: a misspelt label is rare


@dataclass(frozen=True, kw_only=True)
class LabelFinding:
    """One thing that is wrong, and where."""

    kind: str
    place: str
    detail: str
    fatal: bool = False


@dataclass(frozen=True, kw_only=True)
class LabelReport:
    """How many texts each class has, and what is wrong."""

    texts: int
    counts: dict[str, int]
    findings: list[LabelFinding]
    totals: dict[str, int]  # kind -> how often

    @property
    def fatal(self) -> bool:
        return any(finding.fatal for finding in self.findings)

    def to_text(self) -> str:
        lines = [f"{self.texts:,} texts in {len(self.counts)} classes" if self.counts else f"{self.texts:,} texts"]
        for kind, total in self.totals.items():
            lines.append(f"{kind}: {total:,}")
            lines += [f"   {one.place}: {one.detail}" for one in self.findings if one.kind == kind]
        return "\n".join([*lines, *([] if self.totals else ["nothing wrong was found"])])

    def to_json(self) -> str:
        found = [vars(finding) for finding in self.findings]
        told = {"fatal": self.fatal, "classes": self.counts, "counts": self.totals, "findings": found}
        return json.dumps(told, ensure_ascii=False, indent=2)


def examine_table(path: Path) -> LabelReport:
    """Look at a whole file: rows without a text or a label are findings, too, and so is a column that tells labels."""
    columns = find_columns(path)
    found: list[LabelFinding] = []

    def empty(line: int, column: str) -> None:
        detail = f"nothing in column {column!r}; fill it in or remove the row"
        found.append(LabelFinding(kind="an empty text or label", place=f"{path}:{line}", detail=detail, fatal=True))

    rows = list(read_labelled(path, columns, empty))
    if columns.kind == "one" and not columns.labels:
        for leak in leaking_columns(list(read_rows(path)), columns):
            found.append(LabelFinding(kind="a column that tells the label", place=str(path), detail=leak.said))
    return examine_labels(path, rows, columns.kind, found)


def examine_labels(
    path: Path, rows: Iterable[LabelledText], kind: LabelKind = "one", known: Iterable[LabelFinding] = ()
) -> LabelReport:
    """Look at every row once. Numbers are neither misspelt nor rare. known: what was found before."""
    given = list(rows)
    if kind == "number":
        counts, found = Counter[str](), [*known, *_repeats(path, given)]
    else:
        counts = Counter(label for row in given for label in labels_of(row, kind))
        leaks = leaking_words(given) if kind == "one" else ()
        found = [
            *known,
            *_repeats(path, given),
            *_misspelt(path, given, counts, kind),
            *_small(path, counts),
            *(LabelFinding(kind="a word that tells the label", place=f"{path}:{n}", detail=said) for n, said in leaks),
        ]
    totals = Counter(finding.kind for finding in found)
    shown: list[LabelFinding] = []
    for wrong in totals:
        shown += [finding for finding in found if finding.kind == wrong][:SHOWN]
    return LabelReport(texts=len(given), counts=dict(counts.most_common()), findings=shown, totals=dict(totals))


def _repeats(path: Path, rows: list[LabelledText]) -> list[LabelFinding]:
    """The same text again, with the same label or with another."""
    seen: dict[str, list[LabelledText]] = defaultdict(list)
    found = []
    for row in rows:
        key = " ".join(f"{row.text}\n{row.second or ''}".casefold().split())
        other = next((before for before in seen[key] if before.label != row.label), None)
        place = f"{path}:{row.line}"
        if other is not None:
            detail = f"{row.label!r} here, but {other.label!r} on line {other.line}; decide for one"
            found.append(LabelFinding(kind="the same text with two labels", place=place, detail=detail))
        elif seen[key]:
            detail = f"as on line {seen[key][0].line}; it stays in one part"
            found.append(LabelFinding(kind="a text that stands more than once", place=place, detail=detail))
        seen[key].append(row)
    return found


def _misspelt(path: Path, rows: list[LabelledText], counts: Counter[str], kind: LabelKind) -> list[LabelFinding]:
    """A rare label that looks like a common one."""
    found = []
    for label, count in counts.items():
        if label.isdecimal():
            continue
        common = [other for other, times in counts.items() if other != label and count <= SELDOM * times]
        folded = [other for other in common if other.casefold().strip() == label.casefold().strip()]
        near = folded or difflib.get_close_matches(label, common, n=1, cutoff=ALIKE)
        if near:
            line = next(row.line for row in rows if label in labels_of(row, kind))
            detail = f"{label!r} occurs {count} times and {near[0]!r} {counts[near[0]]:,} times; is it the same?"
            found.append(LabelFinding(kind="a label that may be misspelt", place=f"{path}:{line}", detail=detail))
    return found


def _small(path: Path, counts: Counter[str]) -> list[LabelFinding]:
    found = [
        LabelFinding(kind="a class with few texts", place=str(path), detail=f"{label!r} has {count}; add some")
        for label, count in counts.items()
        if count < FEW
    ]
    if len(counts) < 2:
        detail = "there is only one label, so there is nothing to tell apart; add texts of another class"
        found.append(LabelFinding(kind="a single class", place=str(path), detail=detail, fatal=True))
    return found
