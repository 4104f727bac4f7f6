"""What is wrong with tagged sentences, by file and line: illegal orders, contradictions, rare types, no entities."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from clearformer.data.entity_tags import spans
from clearformer.data.readers.conll import TaggedSentence

FEW = 20  # entities of a type, below which little is learned of it
SHOWN = 5  # examples of each kind


@dataclass(frozen=True, kw_only=True)
class TagReport:
    """How many sentences and entities there are, and what is wrong."""

    sentences: int
    without: int  # sentences without an entity
    words: int
    kinds: dict[str, int]  # entities by type
    findings: dict[str, list[str]]  # what is wrong -> where

    @property
    def fatal(self) -> bool:
        """Without an entity there is nothing to learn."""
        return not self.kinds

    def to_text(self) -> str:
        lines = [
            f"{self.sentences:,} sentences, {self.words:,} words; {self.without:,} sentences have no entity",
            f"{sum(self.kinds.values()):,} entities: "
            + (", ".join(f"{kind} ({count:,})" for kind, count in self.kinds.items()) or "none; tag some"),
        ]
        for kind, places in self.findings.items():
            lines.append(f"{kind}: {len(places):,}")
            lines += [f"   {place}" for place in places[:SHOWN]]
        return "\n".join([*lines, *([] if self.findings else ["nothing wrong was found"])])

    def to_json(self) -> str:
        counts = {kind: len(places) for kind, places in self.findings.items()}
        shown = {kind: places[:SHOWN] for kind, places in self.findings.items()}
        told = {"fatal": self.fatal, "sentences": self.sentences, "without_entities": self.without, "words": self.words,
                "entities": self.kinds, "counts": counts, "findings": shown}  # fmt: skip
        return json.dumps(told, ensure_ascii=False, indent=2)


def examine_tags(path: Path, rows: Sequence[TaggedSentence]) -> TagReport:
    """Look at every sentence once. rows: read with `repair`, so that what was mended is known."""
    kinds = Counter(span.kind for row in rows for span in spans(row.tags))
    found = {
        "a line that had to be repaired": [f"{path}:{line}" for row in rows for line in row.repaired],
        "the same sentence with other tags": _contradictions(path, rows),
        "a type with few entities": [f"{path}: {kind} has {count}" for kind, count in kinds.items() if count < FEW],
    }
    return TagReport(
        sentences=len(rows),
        without=sum(set(row.tags) == {"O"} for row in rows),
        words=sum(len(row.words) for row in rows),
        kinds=dict(kinds.most_common()),
        findings={kind: places for kind, places in found.items() if places},
    )


def _contradictions(path: Path, rows: Sequence[TaggedSentence]) -> list[str]:
    first: dict[tuple[str, ...], TaggedSentence] = {}
    found = []
    for row in rows:
        before = first.setdefault(row.words, row)
        if before.tags != row.tags:
            found.append(f"{path}:{row.line}: as on line {before.line}, which has other tags; decide for one")
    return found
