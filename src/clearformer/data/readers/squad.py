"""Questions about texts, answered by a passage of the text: JSON files in the layout of SQuAD, plain or gzipped.

Version 2 of the layout has questions without an answer (`is_impossible`). What cannot be used is refused by file, line
and question; nothing is dropped.
"""

import gzip
import itertools
import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from clearformer.data.readers.json_places import JsonPlaces

Notice = Callable[[str, str], None]  # where (file, line and question), what is wrong there


class QuestionFileError(ValueError):
    """A file of questions cannot be read; the message names file, line and question, and says what to do."""


class GivenAnswer(NamedTuple):
    """A passage of the context, and where it begins."""

    text: str
    start: int


class AskedQuestion(NamedTuple):
    """A question about a context. answers: as several people gave them; none where the text does not say."""

    id: str
    question: str
    context: str
    answers: tuple[GivenAnswer, ...]

    def usual(self) -> GivenAnswer | None:
        """The answer that most people gave, the first of them where several are as frequent."""
        return Counter(self.answers).most_common(1)[0][0] if self.answers else None


def read_questions(path: Path, notice: Notice | None = None) -> Iterator[AskedQuestion]:
    """Every question of a file, in order.

    With `notice`, an answer that is not at its place is told and left out, and so is a question that has none left;
    without, it is refused.
    """

    return (asked for _, asked in read_placed(path, notice))


def read_placed(path: Path, notice: Notice | None = None) -> Iterator[tuple["QuestionPlace", AskedQuestion]]:
    """The same, each with its place, as a finding names it."""

    def refuse(place: str, problem: str) -> None:
        raise QuestionFileError(f"{place}: {problem}")

    tell = notice or refuse
    for context, entry, named in _entries(path):
        place = named.of(_text(entry, "id", named))
        asked = _question(entry, context, place, tell)
        if asked is not None:
            yield place, asked


def read_unanswered(path: Path) -> Iterator[AskedQuestion]:
    """Every question with its context; answers may be missing, and are left aside."""
    for context, entry, named in _entries(path):
        yield AskedQuestion(_text(entry, "id", named), _text(entry, "question", named), context, ())


class QuestionLines:
    """The lines of a file's questions, or paragraphs, looked up when the first of them is wanted.

    key: of the lists that they stand in. total: how many of them are read; a file that has others is not trusted.
    """

    def __init__(self, path: Path, key: str, total: int) -> None:
        self.path, self.key, self.total = path, key, total

    @cached_property
    def _places(self) -> JsonPlaces:
        return JsonPlaces(_text_of(self.path), self.key)

    def said(self, number: int) -> str:
        """The file with the line of one of them, by its number from 0; the file alone where its layout hides lines."""
        known = number >= 0 and len(self._places) == self.total
        return f"{self.path}{self._places.said(number) if known else ''}"


@dataclass(frozen=True)
class QuestionPlace:
    """Where a question, or a paragraph, stands. Only who prints it looks for the line."""

    lines: QuestionLines
    number: int
    name: str

    def of(self, identifier: str) -> "QuestionPlace":
        """The same place, with the question's own name."""
        return replace(self, name=f"question {identifier}")

    def __str__(self) -> str:
        return f"{self.lines.said(self.number)}, {self.name}"


def _entries(path: Path) -> Iterator[tuple[str, Any, QuestionPlace]]:
    """Each question's context, what the file says of it, and where it stands."""
    content = read_json(path)
    found = _articles(content)
    articles = _list(content, "data", str(path)) if found is None else found
    below = {"paragraphs": (all_paragraphs := list(_inside(articles, "paragraphs")))}
    below["qas"] = list(_inside(all_paragraphs, "qas"))
    lines = {key: QuestionLines(path, key, len(some)) for key, some in below.items()}
    counts = {key: itertools.count() for key in below}

    def place_of(key: str, entry: Any, name: str) -> QuestionPlace:
        return QuestionPlace(lines[key], next(counts[key]) if isinstance(entry, dict) else -1, name)

    for article in articles:
        for number, paragraph in enumerate(_list(article, "paragraphs", str(path)), start=1):
            named = place_of("paragraphs", paragraph, f"paragraph {number} of {_title(article)}")
            context = _text(paragraph, "context", named)
            for place, entry in enumerate(_list(paragraph, "qas", named), start=1):
                yield context, entry, place_of("qas", entry, f"question {place} of {named.name}")


def _inside(some: Iterable[Any], key: str) -> Iterator[Any]:
    """The objects in the lists that stand under a key, whatever else may be there."""
    for one in some:
        inner = one.get(key) if isinstance(one, dict) else None
        yield from (entry for entry in (inner if isinstance(inner, list) else ()) if isinstance(entry, dict))


def read_json(path: Path) -> Any:
    """The content of a JSON file, plain or gzipped."""
    try:
        return json.loads(_text_of(path))
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise QuestionFileError(f"{path} is a damaged gzip file ({error}): get it anew") from None
    except UnicodeDecodeError as error:
        raise QuestionFileError(f"{path} is not UTF-8 at byte {error.start}: convert it") from None
    except (ValueError, RecursionError) as error:
        raise QuestionFileError(f"{path} is not JSON ({error}): mend it") from None


def _text_of(path: Path) -> str:
    raw = path.read_bytes()
    return (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode("utf-8-sig")


def looks_like_questions(path: Path) -> bool:
    """Whether a file is JSON with articles, paragraphs and questions, whatever may be wrong inside."""
    if not path.is_file() or not path.name.lower().removesuffix(".gz").endswith(".json"):
        return False
    return _articles(read_json(path)) is not None


def _articles(content: Any) -> list[Any] | None:
    """The list of articles, whatever key it stands under; a list of paragraphs alone is one article."""
    for some in (content, *(content.values() if isinstance(content, dict) else ())):
        if isinstance(some, list) and any(isinstance(one, dict) and "paragraphs" in one for one in some):
            return some
        if isinstance(some, list) and any(isinstance(one, dict) and {"context", "qas"} <= one.keys() for one in some):
            return [{"paragraphs": some}]
    return None


def _question(entry: Any, context: str, place: object, tell: Notice) -> AskedQuestion | None:
    asked = _text(entry, "question", place)
    given = _list(entry, "answers", place)
    impossible = entry.get("is_impossible", False)
    if not isinstance(impossible, bool):
        raise QuestionFileError(f"{place}: is_impossible is {impossible!r}; write true or false")
    if impossible:
        return AskedQuestion(entry["id"], asked, context, ())
    answers = []
    for one in given:
        answer = GivenAnswer(_text(one, "text", place), _number(one, "answer_start", place))
        if problem := _misplaced(answer, context):
            tell(str(place), problem)
        else:
            answers.append(answer)
    if not given:
        tell(str(place), "there is no answer; give one, or say is_impossible")
    return AskedQuestion(entry["id"], asked, context, tuple(answers)) if answers else None


def _misplaced(answer: GivenAnswer, context: str) -> str:
    text, start = answer
    if not text.strip():
        return "an answer is empty; give a passage of the context"
    if start >= 0 and context[start : start + len(text)] == text:
        return ""
    where = context.find(text)
    if where < 0:
        return f"the answer {_short(text)!r} is not at {start} nor anywhere else in the context; correct it"
    return f"the answer {_short(text)!r} is not at {start} but at {where}; correct answer_start"


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


def _title(article: Any) -> str:
    return repr(article["title"]) if isinstance(article, dict) and "title" in article else "an article"


def _value(entry: Any, key: str, place: object) -> Any:
    if not isinstance(entry, dict):
        raise QuestionFileError(f"{place}: {_short(repr(entry))} stands where an object with {key!r} is expected")
    if key not in entry:
        raise QuestionFileError(f"{place}: {key!r} is missing; the layout is that of SQuAD")
    return entry[key]


def _list(entry: Any, key: str, place: object) -> list[Any]:
    value = _value(entry, key, place)
    if not isinstance(value, list):
        raise QuestionFileError(f"{place}: {key!r} should be a list")
    return value


def _text(entry: Any, key: str, place: object) -> str:
    value = _value(entry, key, place)
    if not isinstance(value, str):
        raise QuestionFileError(f"{place}: {key!r} should be a text and is {_short(repr(value))}")
    if any("\ud800" <= letter <= "\udfff" for letter in value):  # JSON can name half a character; no text holds one
        raise QuestionFileError(f"{place}: {key!r} has half a character (a lone surrogate \\udXXX); mend it")
    return value


def _number(entry: Any, key: str, place: object) -> int:
    value = _value(entry, key, place)
    if not isinstance(value, int) or isinstance(value, bool):
        raise QuestionFileError(f"{place}: {key!r} should be a whole number and is {_short(repr(value))}")
    return value
