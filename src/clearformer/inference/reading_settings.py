"""How models that read are asked; plain data, without a tensor."""

from dataclasses import dataclass, field

from clearformer.foundation.forms import check_bounds


@dataclass(frozen=True, kw_only=True)
class ReadingConfig:
    """How texts, pictures or recordings are read."""

    batch: int = field(default=32, metadata={"help": "examples at a time", "least": 1, "most": 4096})

    def __post_init__(self) -> None:
        check_bounds(self)


@dataclass(frozen=True, kw_only=True)
class AnswerConfig(ReadingConfig):
    """How an answer is looked for."""

    longest: int = field(default=30, metadata={"help": "the most tokens of an answer", "least": 1, "most": 4096})
    no_answer: bool = field(
        default=True, metadata={"help": "say nothing where a text has no answer, if the model has learned to"}
    )
