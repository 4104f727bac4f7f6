"""The verbs that use a model: one declaration each, from which the command line, HTTP, the studio and Python are made.

The fields of an options dataclass become the command's flags, the HTTP schema, the studio's form and keyword arguments.
Nothing here needs a tensor, so that help is instant.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from clearformer.inference.generation_settings import GenerationConfig
from clearformer.inference.reading_settings import AnswerConfig, ReadingConfig
from clearformer.inference.translation_settings import DecodingConfig

Input = Literal["text", "prompt", "question", "picture", "sound"]  # what one example is


@dataclass(frozen=True, kw_only=True)
class Verb:
    """A use of a model by name. line: a result as people read it; default: a model that ships, where one does."""

    name: str
    summary: str
    input: Input
    options: type[Any]
    line: Callable[[Any], str]
    default: str | None = None


def _translation(found: Any) -> str:
    return str(found.text)


def _class(found: Any) -> str:
    return f"{found.label}\t{found.probability:.4f}"


def _tags(found: Any) -> str:
    return " ".join(f"{tag.word}/{tag.label}" for tag in found)


def _answer(found: Any) -> str:
    return f"{found.text}\t{found.score:.4f}"


def _vector(found: Any) -> str:
    return "[" + ", ".join(f"{float(value):.6g}" for value in found) + "]"


VERBS: dict[str, Verb] = {
    verb.name: verb
    for verb in (
        Verb(
            name="translate",
            summary="translate sentences, a file, or standard input",
            input="text",
            options=DecodingConfig,
            line=_translation,
            default="en-de",
        ),
        Verb(name="generate", summary="continue a text", input="prompt", options=GenerationConfig, line=str),
        Verb(
            name="fill",
            summary="the words that fit at [MASK]",
            input="text",
            options=ReadingConfig,
            line=lambda found: ", ".join(f"{guess.text} {guess.probability:.3f}" for guess in found),
        ),
        Verb(
            name="classify",
            summary="the class of each text or picture",
            input="text",
            options=ReadingConfig,
            line=_class,
        ),
        Verb(name="tag", summary="a tag for each word of a text", input="text", options=ReadingConfig, line=_tags),
        Verb(
            name="answer",
            summary="find the answer to a question in a text",
            input="question",
            options=AnswerConfig,
            line=_answer,
        ),
        Verb(name="embed", summary="texts as vectors", input="text", options=ReadingConfig, line=_vector),
        Verb(
            name="transcribe",
            summary="the text of a recording",
            input="sound",
            options=GenerationConfig,
            line=_translation,
        ),
        Verb(name="run", summary="what the network says", input="text", options=ReadingConfig, line=str),
    )
}
