"""Texts with a teacher's probabilities beside, or in place of, the labels that people gave: JSON lines.

The first line names the labels, {"kind": "one", "labels": ["bad", "good"]}; every other line is a text, {"text": …,
"label": "good", "soft": [0.1, 0.9]}, or a sentence, {"words": […], "tags": […], "soft": [[…], …]}. A label that nobody
gave is left out. The soft label of a text with a number is that number.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clearformer.text.lines import read_lines

NEAR = 0.01  # how far from 1 the sum of probabilities may be that were rounded
Soft = NDArray[np.float64]


class SoftLabelError(ValueError):
    """A file of lessons cannot be read; the message is one sentence that names file, line and what to do."""


class SoftText(NamedTuple):
    """A text, or a pair. label: what people said, as a table has it; soft: what the teacher says of each label. L."""

    text: str
    second: str | None
    label: str | None
    soft: Soft


class SoftSentence(NamedTuple):
    """Words. tags: what people said; soft: what the teacher says of each label for each word. W L."""

    words: tuple[str, ...]
    tags: tuple[str, ...] | None
    soft: Soft


def header(kind: str, labels: Sequence[str]) -> dict[str, Any]:
    """The first line of a file."""
    return {"kind": kind, "labels": list(labels)}


def text_record(text: str, second: str | None, label: str | None, soft: Sequence[float]) -> dict[str, Any]:
    """A text as a line of a file."""
    told = {"second": second, "label": label}
    return {"text": text, **{key: value for key, value in told.items() if value is not None}, "soft": _rounded(soft)}


def sentence_record(words: Sequence[str], tags: Sequence[str] | None, soft: Soft) -> dict[str, Any]:
    """A sentence as a line of a file."""
    said = {} if tags is None else {"tags": list(tags)}
    return {"words": list(words), **said, "soft": [_rounded(row) for row in soft.tolist()]}


def _rounded(soft: Sequence[float]) -> list[float]:
    return [float(f"{share:.6g}") for share in soft]


def read_soft_texts(path: Path, kind: str, labels: Sequence[str]) -> Iterator[SoftText]:
    """Every text. kind, labels: what the reader expects; the teacher may have the labels in another order."""
    order = _order(path, kind, labels)
    for line, entry in _entries(path):
        if not _is_words([entry.get("text"), entry.get("second", ""), entry.get("label", "")]):
            raise SoftLabelError(f'{path}, line {line} should be {{"text": …, "label": …, "soft": …}}; write it anew')
        [soft] = _soft(path, line, [entry.get("soft")], kind, order)
        yield SoftText(entry["text"], entry.get("second"), entry.get("label"), soft)


def read_soft_sentences(path: Path, labels: Sequence[str]) -> Iterator[SoftSentence]:
    """Every sentence. labels: as for texts."""
    order = _order(path, "tags", labels)
    for line, entry in _entries(path):
        words, tags, soft = (entry.get(key, []) for key in ("words", "tags", "soft"))
        lists = [words, soft, *([tags] if "tags" in entry else [])]
        if not all(isinstance(one, list) for one in lists) or len(set(map(len, lists))) != 1 or not words:
            raise SoftLabelError(f"{path}, line {line} should have as many words as rows of soft; write it anew")
        if not _is_words(words) or not all(tag in labels for tag in tags):
            raise SoftLabelError(f"{path}, line {line} has a word or tag that is none; write it anew")
        yield SoftSentence(tuple(words), tuple(tags) or None, _soft(path, line, soft, "one", order))


def _order(path: Path, kind: str, labels: Sequence[str]) -> list[int]:
    """Where each label stands in the rows of the file."""
    first = _object(path, 1, next(iter(read_lines(path)), ""))
    there = first.get("labels")
    if first.get("kind") != kind or not isinstance(there, list):
        raise SoftLabelError(f"{path}, line 1 should say kind {kind!r} and name the labels; write it anew")
    if kind == "number":
        return [0]
    if set(map(str, there)) != set(labels) or len(there) != len(labels):
        raise SoftLabelError(f"{path} is about {', '.join(map(str, there[:8]))}, and the data about {_few(labels)}")
    return [there.index(label) for label in labels]


def _few(labels: Sequence[str]) -> str:
    return ", ".join(labels[:8])


def _entries(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for line, text in enumerate(read_lines(path), start=1):
        if line > 1 and text.strip():
            yield line, _object(path, line, text)


def _object(path: Path, line: int, text: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise SoftLabelError(f"{path}, line {line} is no JSON object; let a teacher write the file anew")
    return found


def _is_words(values: Sequence[Any]) -> bool:
    return all(isinstance(one, str) for one in values)


def _soft(path: Path, line: int, rows: Sequence[Any], kind: str, order: Sequence[int]) -> Soft:
    """Rows of numbers that are what they should be, in the order of the data's labels."""
    for row in rows:
        if not isinstance(row, list) or len(row) != len(order) or not all(map(_is_number, row)):
            raise SoftLabelError(f"{path}, line {line}: soft should have {len(order)} numbers; write it anew")
        if kind != "number" and not all(0 <= share <= 1 for share in row):
            raise SoftLabelError(f"{path}, line {line}: {row} are no probabilities; write it anew")
        if kind == "one" and abs(sum(row) - 1) > NEAR:
            raise SoftLabelError(f"{path}, line {line}: the probabilities add up to {sum(row):.3f} instead of 1")
    return np.array(rows, dtype=np.float64)[:, list(order)]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
