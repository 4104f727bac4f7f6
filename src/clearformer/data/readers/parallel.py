"""Read parallel text: two files, or one file of tab-separated or JSON lines; plain or gzipped; never all at once.

Lines end at line feeds only (the doctor says why), and line numbers start at 1 as in an editor. A file that does not
have the announced form stops the reading with the line; a pair that has it but is of no use for training is left out
and counted, with its reason, in a `Tally`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from clearformer.text.doctor.parallel import PairLimits, classify_pair, read_lines

_HALF_CHARACTER = re.compile("[\ud800-\udfff]")  # JSON can spell what is not Unicode text


class CorpusError(ValueError):
    """A file does not have the form it should have; the message names the file, the line and the remedy."""


class Pair(NamedTuple):
    """A sentence and its translation, and the line they stand on."""

    source: str
    target: str
    line: int


class ParallelCorpus(Protocol):
    """Where pairs come from."""

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that are read, in a fixed order."""
        ...

    def pairs(self) -> Iterator[Pair]:
        """Every pair as it stands in the files, the useless ones included."""
        ...


@dataclass(frozen=True, kw_only=True)
class ParallelFiles:
    """Two files; line n of one is the translation of line n of the other."""

    source: Path
    target: Path

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.source, self.target)

    def pairs(self) -> Iterator[Pair]:
        sources, targets = read_lines(self.source), read_lines(self.target)
        for line, (source, target) in enumerate(zip_longest(sources, targets), start=1):
            if source is None or target is None:
                longer = line + sum(1 for _ in (targets if source is None else sources))
                counts = (line - 1, longer) if source is None else (longer, line - 1)
                raise unequal_lines(self, *counts)
            yield Pair(source, target, line)


def unequal_lines(corpus: ParallelFiles, source_lines: int, target_lines: int) -> CorpusError:
    """The error for two files that cannot be translations of each other line by line."""
    return CorpusError(
        f"{corpus.source} has {source_lines:,} lines but {corpus.target} has {target_lines:,}: "
        f"run `clearformer doctor` on them to find the line where they part."
    )


@dataclass(frozen=True, kw_only=True)
class JoinedFiles:
    """Several pairs of files, one after the other; lines are counted on from part to part, as in the joined whole."""

    parts: tuple[ParallelFiles, ...]

    @property
    def files(self) -> tuple[Path, ...]:
        return tuple(file for part in self.parts for file in part.files)

    def pairs(self) -> Iterator[Pair]:
        every = (pair for part in self.parts for pair in part.pairs())
        for line, pair in enumerate(every, start=1):
            yield pair._replace(line=line)


@dataclass(frozen=True, kw_only=True)
class TabSeparated:
    """One file with a pair on each line; columns are counted from 0."""

    path: Path
    source_column: int = 0
    target_column: int = 1
    header: bool = False

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.path,)

    def pairs(self) -> Iterator[Pair]:
        needed = max(self.source_column, self.target_column) + 1
        for line, text in enumerate(read_lines(self.path), start=1):
            if self.header and line == 1:
                continue
            columns = text.split("\t")
            if len(columns) < needed:
                raise CorpusError(
                    f"{self.path}, line {line}: {len(columns)} columns, but column {needed - 1} (from 0) is asked for: "
                    f"mend the line or choose other columns."
                )
            yield Pair(columns[self.source_column], columns[self.target_column], line)


@dataclass(frozen=True, kw_only=True)
class JsonLines:
    """One file with a JSON object on each line; a key may lead inwards with dots, as in "translation.de"."""

    path: Path
    source_key: str
    target_key: str

    @property
    def files(self) -> tuple[Path, ...]:
        return (self.path,)

    def pairs(self) -> Iterator[Pair]:
        for line, text in enumerate(read_lines(self.path), start=1):
            try:
                record = json.loads(text)
            except (ValueError, RecursionError) as problem:
                raise CorpusError(f"{self.path}, line {line} is not JSON ({problem}): mend or remove it.") from problem
            yield Pair(self._text(record, self.source_key, line), self._text(record, self.target_key, line), line)

    def _text(self, record: Any, key: str, line: int) -> str:
        value = record
        for name in key.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        if not isinstance(value, str):
            raise CorpusError(f"{self.path}, line {line} has no text under {key!r}: name another key or mend the line.")
        if not value.isprintable() and _HALF_CHARACTER.search(value):
            raise CorpusError(
                f"{self.path}, line {line} has half a character (\\ud800 to \\udfff) under {key!r}: mend it."
            )
        return value.replace("\n", " ")  # a sentence is a line here as everywhere else


@dataclass(kw_only=True)
class Tally:
    """How many pairs were kept, and how many were left out for which reason."""

    kept: int = 0
    left_out: dict[str, int] = field(default_factory=dict)  # reason -> pairs
    first_line: dict[str, int] = field(default_factory=dict)  # where each reason occurred first

    @property
    def total(self) -> int:
        return self.kept + sum(self.left_out.values())

    def leave_out(self, reason: str, line: int, pairs: int = 1) -> None:
        self.left_out[reason] = self.left_out.get(reason, 0) + pairs
        self.first_line[reason] = min(line, self.first_line.get(reason, line))

    def add(self, other: Tally) -> None:
        """Take over what was counted elsewhere, in another process for example."""
        self.kept += other.kept
        for reason, pairs in other.left_out.items():
            self.leave_out(reason, other.first_line[reason], pairs)

    def __str__(self) -> str:
        by_frequency = sorted(self.left_out.items(), key=lambda item: -item[1])
        reasons = ", ".join(f"{n:,} {reason} (first: line {self.first_line[reason]})" for reason, n in by_frequency)
        return f"{self.kept:,} of {self.total:,} pairs kept" + (f"; left out: {reasons}" if reasons else "")


def read_pairs(corpus: ParallelCorpus, limits: PairLimits, tally: Tally) -> Iterator[Pair]:
    """The pairs that are of use; `tally` is up to date whenever one is yielded."""
    for pair in corpus.pairs():
        reason = classify_pair(pair.source, pair.target, limits)
        if reason is None:
            tally.kept += 1
            yield pair
        else:
            tally.leave_out(str(reason), pair.line)
