"""The verbs that use a model: one declaration each, from which the command line, HTTP, the studio and Python are made.

The fields of an options dataclass become the command's flags, the HTTP schema, the studio's form and keyword arguments.
Nothing here needs a tensor, so that help is instant.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from clearformer.inference.chat_settings import ChatConfig
from clearformer.inference.detection_settings import DetectionConfig
from clearformer.inference.generation_settings import GenerationConfig, usual_writing
from clearformer.inference.painting_settings import PaintingConfig, usual_painting
from clearformer.inference.reading_settings import (
    AnswerConfig,
    ClassConfig,
    MatchConfig,
    ReadingConfig,
    VectorConfig,
    WhyClassConfig,
    WhyConfig,
)
from clearformer.inference.segment_settings import SegmentConfig
from clearformer.inference.summary_settings import SummaryConfig, usual_summaries
from clearformer.inference.transcription_settings import TranscriptionConfig
from clearformer.inference.translation_settings import DecodingConfig, usual_search

Input = Literal["text", "prompt", "question", "picture", "sound", "class"]  # what one example is


@dataclass(frozen=True, kw_only=True)
class Verb:
    """A use of a model by name.

    does: what such a model does, in a few words. example: what to type behind the verb. line: a result as people read
    it. default: a model that ships, where one does; for_pictures: the same where pictures are given; knows: what that
    model knows, and nothing else. examples: the folder of pictures or recordings that ship. why: how a result is
    explained, where it can be. usual: the options that a model folder's provenance remembers of its recipe, where it
    does.
    """

    name: str
    summary: str
    does: str
    example: str
    input: Input
    options: type[Any]
    line: Callable[[Any], str]
    default: str | None = None
    for_pictures: str | None = None
    knows: str = ""
    examples: str | None = None
    why: type[Any] | None = None
    usual: Callable[[Mapping[str, Any]], Any] | None = None

    def options_for(self, provenance: Mapping[str, Any]) -> Any:
        """How a model is used if nothing else is said."""
        return self.options() if self.usual is None else self.usual(provenance)


def _translation(found: Any) -> str:
    return str(found.text)


def _class(found: Any) -> str:
    """One class, or all that are probable enough, with a bar between them as in a table; or a number."""
    if hasattr(found, "number"):
        return f"{found.number:.4f}"
    if found.labels is None:
        return f"{found.label}\t{found.probability:.4f}"
    return "|".join(found.labels) + "\t" + "|".join(f"{found.scores[label]:.4f}" for label in found.labels)


def _objects(found: Any) -> str:
    """One line per object: class, score, and the edges of its box in pixels."""
    rows = (f"{one.label}\t{one.score:.4f}\t" + "\t".join(f"{edge:.1f}" for edge in one.box) for one in found.objects)
    return "\n".join(rows)


def _tags(found: Any) -> str:
    return " ".join(f"{tag.word}/{tag.label}" for tag in found)


def _answer(found: Any) -> str:
    return f"{found.text}\t{found.score:.4f}"


def _filled(found: Any) -> str:
    """Guesses for one gap, or a text made whole."""
    if hasattr(found, "shown"):
        return str(found.text)
    return ", ".join(f"{guess.text} {guess.probability:.3f}" for guess in found)


def _segmented(found: Any) -> str:
    """How many things, and how large; or how much of the picture each class has."""
    if not found.instances:
        total = found.mask.size
        return ", ".join(f"{one.label} {one.area / total:.1%}" for one in found.found)
    if not found.found:
        return "0"
    areas = sorted(one.area for one in found.found)
    return f"{len(areas)}\tareas {areas[0]} to {areas[-1]} pixels, median {areas[len(areas) // 2]}"


def _painting(found: Any) -> str:
    return f"{found.label}-{found.number:03}"


def _pixel_error(found: Any) -> str:
    return f"{found.error:.5f}"


def _vector(found: Any) -> str:
    return "[" + ", ".join(f"{float(value):.6g}" for value in found) + "]"


VERBS: dict[str, Verb] = {
    verb.name: verb
    for verb in (
        Verb(
            name="translate",
            summary="translate sentences, a file, or standard input",
            does="translates, or rewrites a text",
            example='"Two dogs play in the snow."',
            input="text",
            options=DecodingConfig,
            line=_translation,
            default="en-de",
            usual=usual_search,
        ),
        Verb(
            name="generate",
            summary="continue a text",
            does="continues a text",
            example='"Once upon a time"',
            input="prompt",
            options=GenerationConfig,
            line=str,
            default="shakespeare",
            usual=usual_writing,
        ),
        Verb(
            name="chat",
            summary="converse with a model",
            does="converses",
            example='"What is the capital of France?"',
            input="prompt",
            options=ChatConfig,
            line=str,
        ),
        Verb(
            name="fill",
            summary="find the words that fit at a gap in a text",
            does="fills in masked words",
            example='"Two dogs [MASK] in the snow."',
            input="text",
            options=ReadingConfig,
            line=_filled,
        ),
        Verb(
            name="classify",
            summary="find the class of each text or picture",
            does="finds the class of a text or picture",
            example='"A gripping film."',
            input="text",
            options=ClassConfig,
            line=_class,
            for_pictures="mnist",
            knows="handwritten digits",
            examples="digits",
            why=WhyClassConfig,
        ),
        Verb(
            name="detect",
            summary="find objects in pictures, with a box around each",
            does="finds objects in pictures",
            example="example",
            input="picture",
            options=DetectionConfig,
            line=_objects,
            default="bccd",
            knows="cells in pictures of blood",
            examples="blood",
        ),
        Verb(
            name="tag",
            summary="find a tag for each word of a text",
            does="tags the words of a text",
            example='"Ada Lovelace lived in London."',
            input="text",
            options=ReadingConfig,
            line=_tags,
        ),
        Verb(
            name="answer",
            summary="find the answer to a question in a text",
            does="finds the answer to a question",
            example='"Where did Ada live?" "Ada Lovelace lived in London."',
            input="question",
            options=AnswerConfig,
            line=_answer,
            why=WhyConfig,
        ),
        Verb(
            name="summarize",
            summary="a short text for each long one",
            does="summarises a text",
            example='"Hi all, the room for tomorrow\'s meeting has changed: we meet in 6104 at ten."',
            input="text",
            options=SummaryConfig,
            line=_translation,
            usual=usual_summaries,
        ),
        Verb(
            name="embed",
            summary="turn texts into vectors that can be compared",
            does="embeds texts",
            example='"Two dogs play in the snow."',
            input="text",
            options=VectorConfig,
            line=_vector,
        ),
        Verb(
            name="transcribe",
            summary="write down the speech of recordings, with times",
            does="writes down speech",
            example="example",
            input="sound",
            options=TranscriptionConfig,
            line=_translation,
            default="fsdd",
            knows="spoken English digits",
            examples="speech",
        ),
        Verb(
            name="segment",
            summary="find the outline of each thing in pictures, or the class of every pixel",
            does="segments pictures",
            example="example",
            input="picture",
            options=SegmentConfig,
            line=_segmented,
            default="nuclei",
            knows="cell nuclei that glow in the dark",
            examples="nuclei",
        ),
        Verb(
            name="paint",
            summary="paint pictures of a class",
            does="paints pictures of a class",
            example="7",
            input="class",
            options=PaintingConfig,
            line=_painting,
            default="paint-mnist",
            knows="handwritten digits",
            usual=usual_painting,
        ),
        Verb(
            name="reconstruct",
            summary="compress pictures to a few numbers and draw them again from these alone",
            does="gives pictures back from a short code",
            example="example",
            input="picture",
            options=ReadingConfig,
            line=_pixel_error,
            default="mnist-code",
            knows="handwritten digits",
            examples="digits",
        ),
        Verb(
            name="run",
            summary="what the network says",
            does="is run as it is",
            example="",
            input="text",
            options=ReadingConfig,
            line=str,
        ),
    )
}
# One command, another kind of model: it has no classes, and is told the labels to choose from.
VERBS["match"] = replace(
    VERBS["classify"],
    does="matches pictures with texts",
    example='photo.jpg --labels "a photo of a cat,a photo of a dog"',
    input="picture",
    options=MatchConfig,
    why=None,
)
