"""How models that read are asked; plain data, without a tensor."""

from dataclasses import dataclass, field
from typing import Literal

from clearformer.foundation.forms import check_bounds

WhyMethod = Literal["rollout", "gradient", "both"]
Baseline = Literal["mask", "pad", "zero"]


@dataclass(frozen=True, kw_only=True)
class ReadingConfig:
    """How texts, pictures or recordings are read."""

    batch: int = field(default=32, metadata={"help": "examples at a time", "least": 1, "most": 4096})

    def __post_init__(self) -> None:
        check_bounds(self)


@dataclass(frozen=True, kw_only=True)
class ClassConfig(ReadingConfig):
    """How classes are found."""

    flips: bool = field(
        default=False, metadata={"help": "pictures: look at the mirror image too, and take the mean of both"}
    )


@dataclass(frozen=True, kw_only=True)
class MatchConfig(ClassConfig):
    """How the label that fits a picture is found, by a model without classes of its own."""

    labels: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": "of a model that matches pictures with texts: the labels to choose from, with commas between them; "
            "or the option once for each, and then commas are a part of it"
        },
    )


@dataclass(frozen=True, kw_only=True)
class VectorConfig(ReadingConfig):
    """How texts become vectors."""

    prompt: str | None = field(
        default=None,
        metadata={"help": "what the texts are for (query, document, …), of models that want to be told; see inspect"},
    )


@dataclass(frozen=True, kw_only=True)
class AnswerConfig(ReadingConfig):
    """How an answer is looked for."""

    longest: int = field(default=30, metadata={"help": "the most tokens of an answer", "least": 1, "most": 4096})
    no_answer: bool = field(
        default=True, metadata={"help": "say nothing where a text has no answer, if the model has learned to"}
    )


@dataclass(frozen=True, kw_only=True)
class WhyConfig(ReadingConfig):
    """How a result is explained, word by word."""

    why: WhyMethod = field(
        default="both",
        metadata={
            "help": "how much each word counted, by attention rollout, by integrated gradients (gradient) or by both"
        },
    )
    steps: int = field(
        default=64,
        metadata={"help": "gradient: points on the way from the baseline to the text", "least": 1, "most": 1024},
    )
    baseline: Baseline | None = field(
        default=None,
        metadata={
            "help": "gradient: what stands for a missing word, the vector of the mask or padding token or zeros "
            "(the first that the vocabulary has)"
        },
    )


@dataclass(frozen=True, kw_only=True)
class WhyClassConfig(WhyConfig):
    """How a class is explained."""

    of: str | None = field(
        default=None, metadata={"help": "gradient: the class to explain, by its name (the one that was found)"}
    )
