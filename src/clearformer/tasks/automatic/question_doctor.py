"""What is wrong with questions about texts, by file and line: misplaced answers, repeats, contradictions, gaps."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from clearformer.data.readers.squad import AskedQuestion, QuestionPlace, read_placed

SHOWN = 5  # examples of each kind


@dataclass(frozen=True, kw_only=True)
class QuestionFinding:
    """One thing that is wrong, and where."""

    kind: str
    place: str
    detail: str
    fatal: bool = False


@dataclass(frozen=True, kw_only=True)
class QuestionReport:
    """How many questions about how many texts there are, and what is wrong."""

    questions: int
    texts: int
    unanswered: int  # questions to which the text has no answer
    findings: list[QuestionFinding]
    totals: dict[str, int]  # kind -> how often

    @property
    def fatal(self) -> bool:
        return any(finding.fatal for finding in self.findings)

    def to_text(self) -> str:
        lines = [f"{self.questions:,} questions about {self.texts:,} texts; {self.unanswered:,} have no answer there"]
        for kind, total in self.totals.items():
            lines.append(f"{kind}: {total:,}")
            lines += [f"   {one.place}: {one.detail}" for one in self.findings if one.kind == kind]
        return "\n".join([*lines, *([] if self.totals else ["nothing wrong was found"])])

    def to_json(self) -> str:
        told = {
            "fatal": self.fatal,
            "questions": self.questions,
            "texts": self.texts,
            "unanswered": self.unanswered,
            "counts": self.totals,
            "findings": [vars(finding) for finding in self.findings],
        }
        return json.dumps(told, ensure_ascii=False, indent=2)


def examine_questions(files: Sequence[Path]) -> tuple[list[AskedQuestion], QuestionReport]:
    """Look at every question once. Returns those that can be used, and what is wrong with the others and with them."""
    found: list[QuestionFinding] = []

    def misplaced(place: str, problem: str) -> None:
        found.append(QuestionFinding(kind="an answer that is left out", place=place, detail=problem))

    read = [one for path in files for one in read_placed(path, misplaced)]
    usable: list[AskedQuestion] = []
    for place, asked in read:
        if asked.context.strip():
            usable.append(asked)
        else:
            detail = "there is nothing to read; it is left out"
            found.append(QuestionFinding(kind="an empty text", place=str(place), detail=detail))
    found += _repeats(read)
    if len({asked.context for asked in usable}) < 3:
        detail = "there are too few texts to hold some out; give questions about three at least"
        found.append(QuestionFinding(kind="few texts", place=str(files[0]), detail=detail, fatal=True))
    totals = Counter(finding.kind for finding in found)
    shown = [one for kind in totals for one in [one for one in found if one.kind == kind][:SHOWN]]
    return usable, QuestionReport(
        questions=len(usable),
        texts=len({asked.context for asked in usable}),
        unanswered=sum(not asked.answers for asked in usable),
        findings=shown,
        totals=dict(totals),
    )


def _repeats(read: Sequence[tuple[QuestionPlace, AskedQuestion]]) -> list[QuestionFinding]:
    """The same question about the same text again, and an identifier that two questions share."""
    found = []
    asked_before: dict[tuple[str, str], str] = {}
    named: set[str] = set()
    for place, asked in read:
        key = (" ".join(asked.question.casefold().split()), asked.context)
        if key in asked_before:
            detail = f"as question {asked_before[key]}; both count"
            found.append(
                QuestionFinding(kind="a question that is asked twice of a text", place=str(place), detail=detail)
            )
        if asked.id in named:
            detail = "another question has the same id; give each its own"
            found.append(QuestionFinding(kind="an id that stands more than once", place=str(place), detail=detail))
        asked_before.setdefault(key, asked.id)
        named.add(asked.id)
    return found
