"""Questions about texts, answered by a passage of the text: JSON files in the layout of SQuAD, plain or gzipped.

Version 2 of the layout has questions without an answer (`is_impossible`). What cannot be used is refused by file and
question; nothing is dropped.
"""

import gzip
import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

Notice = Callable[[str, str], None]  # where (file and question), what is wrong there


class QuestionFileError(ValueError):
    """A file of questions cannot be read; the message names file and question, and says what to do."""


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

    def refuse(place: str, problem: str) -> None:
        raise QuestionFileError(f"{place}: {problem}")

    tell = notice or refuse
    for context, entry, named in _entries(path):
        place = f"{path}, question {_text(entry, 'id', named)}"
        asked = _question(entry, context, place, tell)
        if asked is not None:
            yield asked


def read_unanswered(path: Path) -> Iterator[AskedQuestion]:
    """Every question with its context; answers may be missing, and are left aside."""
    for context, entry, named in _entries(path):
        yield AskedQuestion(_text(entry, "id", named), _text(entry, "question", named), context, ())


def _entries(path: Path) -> Iterator[tuple[str, Any, str]]:
    """Each question's context, what the file says of it, and where the paragraph stands."""
    content = read_json(path)
    found = _articles(content)
    for article in _list(content, "data", str(path)) if found is None else found:
        for number, paragraph in enumerate(_list(article, "paragraphs", str(path)), start=1):
            named = f"{path}, paragraph {number} of {_title(article)}"
            context = _text(paragraph, "context", named)
            for entry in _list(paragraph, "qas", named):
                yield context, entry, named


def read_json(path: Path) -> Any:
    """The content of a JSON file, plain or gzipped."""
    try:
        raw = path.read_bytes()
        text = (gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw).decode("utf-8-sig")
        return json.loads(text)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise QuestionFileError(f"{path} is a damaged gzip file ({error}): get it anew") from None
    except UnicodeDecodeError as error:
        raise QuestionFileError(f"{path} is not UTF-8 at byte {error.start}: convert it") from None
    except (ValueError, RecursionError) as error:
        raise QuestionFileError(f"{path} is not JSON ({error}): mend it") from None


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


def _question(entry: Any, context: str, place: str, tell: Notice) -> AskedQuestion | None:
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
            tell(place, problem)
        else:
            answers.append(answer)
    if not given:
        tell(place, "there is no answer; give one, or say is_impossible")
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


def _value(entry: Any, key: str, place: str) -> Any:
    if not isinstance(entry, dict):
        raise QuestionFileError(f"{place}: {_short(repr(entry))} stands where an object with {key!r} is expected")
    if key not in entry:
        raise QuestionFileError(f"{place}: {key!r} is missing; the layout is that of SQuAD")
    return entry[key]


def _list(entry: Any, key: str, place: str) -> list[Any]:
    value = _value(entry, key, place)
    if not isinstance(value, list):
        raise QuestionFileError(f"{place}: {key!r} should be a list")
    return value


def _text(entry: Any, key: str, place: str) -> str:
    value = _value(entry, key, place)
    if not isinstance(value, str):
        raise QuestionFileError(f"{place}: {key!r} should be a text and is {_short(repr(value))}")
    if any("\ud800" <= letter <= "\udfff" for letter in value):  # JSON can name half a character; no text holds one
        raise QuestionFileError(f"{place}: {key!r} has half a character (a lone surrogate \\udXXX); mend it")
    return value


def _number(entry: Any, key: str, place: str) -> int:
    value = _value(entry, key, place)
    if not isinstance(value, int) or isinstance(value, bool):
        raise QuestionFileError(f"{place}: {key!r} should be a whole number and is {_short(repr(value))}")
    return value
