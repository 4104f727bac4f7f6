"""What a summary is and how it is written; plain data, without a tensor."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from clearformer.foundation.forms import check_bounds
from clearformer.inference.translation_settings import DecodingConfig, remembered

# What a model folder remembers of its recipe's [use], and what a value of it looks like.
KEPT: dict[str, type | tuple[type, ...]] = {
    "beam": int, "alpha": (int, float), "no_repeat_ngram": int, "max_tokens": int, "long": str
}  # fmt: skip
HARD = 2  # times max_tokens: where a summary that reaches no end is broken off


@dataclass(frozen=True, kw_only=True)
class SummaryConfig:
    """How a summary is searched for, and what becomes of a text that is longer than the model reads."""

    beam: int = field(
        default=4, metadata={"help": "hypotheses kept at each step; 1 is greedy", "least": 1, "most": 1000}
    )
    alpha: float = field(
        default=1.0,
        metadata={"help": "exponent of the length penalty; more favours longer summaries", "least": -10, "most": 10},
    )
    no_repeat_ngram: int = field(
        default=3,
        metadata={"help": "no run of this many tokens is written twice; 0 allows it", "least": 0, "most": 1000},
    )
    max_tokens: int = field(
        default=64,
        metadata={
            "help": "a summary ends with the last whole sentence of so many tokens; one without a sentence end may "
            "have twice as many",
            "least": 1,
            "most": 100_000,
        },
    )
    long: Literal["parts", "beginning"] = field(
        default="parts",
        metadata={
            "help": "a text longer than the model reads: summarise each part and join these, or read its beginning"
        },
    )
    batch: int = field(
        default=64,
        metadata={"help": "texts at a time, fewer where they are long", "least": 1, "most": 1_000_000},
    )
    batch_tokens: int = field(
        default=8192,
        metadata={"help": "most tokens of texts at a time, padding included", "least": 1, "most": 1_000_000_000},
    )

    def __post_init__(self) -> None:
        check_bounds(self)

    def search(self) -> DecodingConfig:
        """The same in the words of a search; an output has no more tokens than its source."""
        return DecodingConfig(
            beam=self.beam,
            alpha=self.alpha,
            no_repeat_ngram=self.no_repeat_ngram,
            batch=self.batch,
            batch_tokens=self.batch_tokens,
            max_ratio=1.0,
            max_extra=0,
        )


def usual_summaries(provenance: Mapping[str, Any]) -> SummaryConfig:
    """How a model folder's own recipe summarises, or our defaults where the folder does not say."""
    kept = remembered(provenance, KEPT)
    if kept.get("long", "parts") not in ("parts", "beginning"):
        raise ValueError(f"the model's provenance says decoding.long = {kept['long']!r}, which is no such setting")
    return SummaryConfig(**kept)


@dataclass(frozen=True, kw_only=True)
class Summary:
    """One summary. score: mean log-probability of a token (of the lowest part); tokens, read: how many tokens the text
    has, and how many of them were read; parts: in how many parts. ended: False where the limit broke it off.
    """

    text: str
    score: float
    tokens: int
    read: int
    parts: int = 1
    ended: bool = True

    @property
    def remark(self) -> str:
        """What is to be said about how it came about; mostly nothing."""
        told = [] if self.tokens else ["is empty, and so is its summary"]
        if self.read < self.tokens:
            told.append(f"has {self.tokens} tokens, of which the first {self.read} were read")
        elif self.parts > 1:
            told.append(f"has {self.tokens} tokens and was summarised in {self.parts} parts")
        if not self.ended:
            told.append("has a summary that reached no end and was broken off at the limit (--max-tokens)")
        return "; it ".join(told)
