"""Questions with a teacher's answers beside, or in place of, those that people gave: JSON lines.

The first line is {"kind": "answers"}; every other line is a question, {"id": …, "question": …, "context": …, "answers":
[{"text": …, "answer_start": …}], "soft": [[start, end, probability], …]}. The answers of a question that nobody
answered are left out. What the probabilities of the passages lack of 1 is that of "no answer in this text".
"""

import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from clearformer.data.readers.soft_labels import SoftLabelError
from clearformer.data.readers.squad import AskedQuestion, GivenAnswer
from clearformer.text.lines import read_lines

KIND = "answers"
OVER = 1.001  # what probabilities that were rounded may add up to


class SoftSpan(NamedTuple):
    """A passage of the context, by its characters, and how probable the teacher finds it."""

    start: int
    end: int
    probability: float


class TaughtQuestion(NamedTuple):
    """A question with a teacher's passages. given: whether people answered it, or said that the text does not."""

    asked: AskedQuestion
    given: bool
    soft: tuple[SoftSpan, ...]


def header() -> dict[str, Any]:
    """The first line of a file."""
    return {"kind": KIND}


def question_record(taught: TaughtQuestion) -> dict[str, Any]:
    """A question as a line of a file."""
    asked = taught.asked
    answers = [{"text": one.text, "answer_start": one.start} for one in asked.answers]
    return {
        "id": asked.id,
        "question": asked.question,
        "context": asked.context,
        **({"answers": answers} if taught.given else {}),
        "soft": [[one.start, one.end, float(f"{one.probability:.6g}")] for one in taught.soft],
    }


def read_taught(path: Path) -> Iterator[TaughtQuestion]:
    """Every question of a file; a line that is none is refused by its number."""
    for number, line in enumerate(read_lines(path), start=1):
        place = f"{path}, line {number}"
        entry = _object(place, line)
        if number == 1:
            if entry.get("kind") != KIND:
                raise SoftLabelError(f"{place} should say kind {KIND!r}; let a teacher write the file anew")
        elif line.strip():
            yield _taught(place, entry)


def _object(place: str, line: str) -> Mapping[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise SoftLabelError(f"{place} is no JSON object; let a teacher write the file anew")
    return found


def _taught(place: str, entry: Mapping[str, Any]) -> TaughtQuestion:
    texts = [entry.get(key) for key in ("id", "question", "context")]
    if not all(isinstance(one, str) for one in texts):
        raise SoftLabelError(f"{place} should have id, question and context; write it anew")
    name, question, context = map(str, texts)
    answers = []
    for one in entry.get("answers", []):
        text, start = (one.get("text"), one.get("answer_start")) if isinstance(one, dict) else (None, None)
        if not isinstance(text, str) or not isinstance(start, int) or context[start : start + len(text)] != text:
            raise SoftLabelError(f"{place}: an answer is not a passage of the context; write it anew")
        answers.append(GivenAnswer(text, start))
    return TaughtQuestion(
        AskedQuestion(name, question, context, tuple(answers)), "answers" in entry, _spans(place, entry, len(context))
    )


def _spans(place: str, entry: Mapping[str, Any], length: int) -> tuple[SoftSpan, ...]:
    found = []
    for one in entry.get("soft", []):
        if not isinstance(one, list) or len(one) != 3 or not all(isinstance(value, int | float) for value in one):
            raise SoftLabelError(f"{place}: soft should have a start, an end and a probability each; write it anew")
        span = SoftSpan(int(one[0]), int(one[1]), float(one[2]))
        if not 0 <= span.start < span.end <= length or not 0 <= span.probability <= 1:
            raise SoftLabelError(f"{place}: {one} is no passage with a probability; write it anew")
        found.append(span)
    if math.fsum(one.probability for one in found) > OVER:
        raise SoftLabelError(f"{place}: the probabilities add up to more than 1; write it anew")
    return tuple(found)
