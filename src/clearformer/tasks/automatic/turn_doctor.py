"""What is wrong with conversations, by file and line: lines that make no sense, repeats, talks without an answer."""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from clearformer.data.readers.turns import Dialogue, read_turns

FEWEST = 10  # conversations; of fewer, none can be held out
SHOWN = 5


@dataclass(frozen=True, kw_only=True)
class TurnReport:
    """How many conversations and answers there are, and sentences about what is wrong; the first is the worst."""

    conversations: int
    answers: int
    findings: list[str]
    fatal: bool

    def to_text(self) -> str:
        lines = [f"{self.conversations:,} conversations with {self.answers:,} answers", *self.findings]
        return "\n".join([*lines, *([] if self.findings else ["nothing wrong was found"])])

    def to_json(self) -> str:
        return json.dumps(vars(self), ensure_ascii=False, indent=2)


def examine_turns(path: Path) -> tuple[list[Dialogue], TurnReport]:
    """Look at every conversation once. Returns them, and what is wrong."""
    rows: list[Dialogue] = []
    findings: list[str] = []
    fatal = False
    try:
        rows.extend(read_turns(path))
    except ValueError as error:
        findings, fatal = [str(error)], True
    if not fatal and len(rows) < FEWEST:
        findings, fatal = (
            [f"{path} has {len(rows)} conversations; give {FEWEST} at least, so that some are held out"],
            True,
        )
    silent = [row.place for row in rows if all(one.role != "assistant" or one.stopped for one in row.messages)]
    findings += [f"{place} has no answer to learn from; it is left out" for place in silent[:SHOWN]]
    counted = Counter(row.messages for row in rows)
    repeated = sum(count - 1 for count in counted.values())
    findings += [f"{path}: {repeated:,} conversations stand there more than once"] if repeated else []
    answers = sum(one.role == "assistant" for row in rows for one in row.messages)
    return rows, TurnReport(conversations=len(rows), answers=answers, findings=findings, fatal=fatal)
