"""What is wrong with texts and their summaries, by file and line: gaps, summaries that are too long, repeats."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from clearformer.data.near_copies import NEAR, RUN, runs
from clearformer.data.readers.summary_pairs import SummaryPair

FEWEST = 20  # texts; below this there is nothing to learn from and nothing to hold out
SHOWN = 5  # examples of each kind


@dataclass(frozen=True, kw_only=True)
class SummaryReport:
    """How many texts can be learned from, how long they are, and what is wrong."""

    texts: int
    characters: int  # of a text, on average
    summary_characters: int
    findings: dict[str, list[str]]  # what is wrong -> where
    fatal: bool

    def to_text(self) -> str:
        lines = [
            f"{self.texts:,} texts of {self.characters:,} characters on average, with summaries of "
            f"{self.summary_characters:,}"
        ]
        for kind, places in self.findings.items():
            lines.append(f"{kind}: {len(places):,}")
            lines += [f"   {place}" for place in places[:SHOWN]]
        return "\n".join([*lines, *([] if self.findings else ["nothing wrong was found"])])

    def to_json(self) -> str:
        counts = {kind: len(places) for kind, places in self.findings.items()}
        shown = {kind: places[:SHOWN] for kind, places in self.findings.items()}
        told = {"fatal": self.fatal, "texts": self.texts, "characters": self.characters,
                "summary_characters": self.summary_characters, "counts": counts, "findings": shown}  # fmt: skip
        return json.dumps(told, ensure_ascii=False, indent=2)


def examine_summaries(path: Path, rows: Sequence[SummaryPair]) -> tuple[list[SummaryPair], SummaryReport]:
    """Look at every row once. Returns those that can be learned from, and what is wrong."""
    usable = [row for row in rows if row.text and row.summary and len(row.summary) < len(row.text)]
    found = {
        "no text (left out)": [row.place for row in rows if not row.text],
        "no summary (left out)": [row.place for row in rows if row.text and not row.summary],
        "a summary as long as its text (left out)": [
            row.place for row in rows if row.summary and row.text and len(row.summary) >= len(row.text)
        ],
        "the same text again": _repeats(usable),
        f"a near copy ({NEAR:.0%} of its runs of {RUN} words) of a text before it": _near(usable),
    }
    fatal = len(usable) < FEWEST
    if fatal:
        detail = f"{path} has {len(usable)} texts with a shorter summary, but at least {FEWEST} are needed; add some"
        found = {"too little to learn from": [detail], **found}
    count = max(1, len(usable))
    return usable, SummaryReport(
        texts=len(usable),
        characters=round(sum(len(row.text) for row in usable) / count),
        summary_characters=round(sum(len(row.summary) for row in usable) / count),
        findings={kind: places for kind, places in found.items() if places},
        fatal=fatal,
    )


def _repeats(rows: Sequence[SummaryPair]) -> list[str]:
    """A text that stands there twice; with another summary it teaches two things at once."""
    first: dict[str, SummaryPair] = {}
    found = []
    for row in rows:
        before = first.setdefault(row.text, row)
        if before is not row:
            told = "with the same summary" if before.summary == row.summary else "with another summary; decide for one"
            found.append(f"{row.place}: as {before.place}, {told}")
    return found


def _near(rows: Sequence[SummaryPair]) -> list[str]:
    """Texts most of whose runs of words stand in one text before them, but which are not the same."""
    where: dict[int, list[int]] = {}
    found = []
    seen: set[str] = set()
    for number, row in enumerate(rows):
        own = runs(row.text)
        met: dict[int, int] = {}
        for run in own:
            for other in where.get(run, ()):
                met[other] = met.get(other, 0) + 1
        near = max(met, key=met.__getitem__, default=None)
        if near is not None and met[near] >= NEAR * len(own) and row.text not in seen:
            found.append(f"{row.place}: nearly as {rows[near].place}")
        elif near is None or met[near] < NEAR * len(own):
            for run in own:
                where.setdefault(run, []).append(number)
        seen.add(row.text)
    return found
