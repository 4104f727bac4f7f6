"""How a text is continued. Nothing here needs a tensor, so that a command that reads these options starts at once."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from clearformer.foundation.forms import check_bounds
from clearformer.inference.translation_settings import remembered

if TYPE_CHECKING:
    from clearformer.decoding.constraints.grammar import Grammar


@dataclass(frozen=True, kw_only=True)
class GenerationConfig:
    """How a text is continued. temperature = 0 takes the likeliest token each time; anything above draws by chance."""

    max_new: int = field(default=128, metadata={"help": "most tokens to add", "least": 1})
    temperature: float = field(
        default=0.0,
        metadata={
            "help": "0 takes the likeliest token, 1 draws by the model's probabilities; without it as its recipe says",
            "least": 0,
        },
    )
    top_k: int | None = field(default=None, metadata={"help": "draw among the k likeliest tokens only", "least": 1})
    top_p: float | None = field(
        default=None,
        metadata={
            "help": "draw among the likeliest tokens that have this probability together",
            "least": 0,
            "most": 1,
        },
    )
    min_p: float | None = field(
        default=None,
        metadata={
            "help": "draw among the tokens that have at least this share of the likeliest one's probability",
            "least": 0,
            "most": 1,
        },
    )
    repetition_penalty: float | None = field(
        default=None,
        metadata={
            "help": "above 1 makes tokens that were already written less likely; 1 changes nothing",
            "least": 0,
        },
    )
    seed: int = field(default=0, metadata={"help": "of the drawing; the same seed draws the same tokens", "least": 0})
    samples: int = field(
        default=1,
        metadata={
            "help": "texts to draw, with seeds that count up from the seed",
            "least": 1,
            "most": 1000,
        },
    )
    stop_text: tuple[str, ...] = field(
        default=(), metadata={"help": "end before this text would be written; several may be given"}
    )
    lookup: int = field(
        default=8,
        metadata={
            "help": "most tokens to guess where the text repeats itself, without chance: faster, the same text (8)",
            "least": 0,
            "most": 64,
        },
    )
    choices: tuple[str, ...] | None = field(
        default=None, metadata={"help": "write one of these texts and nothing else"}
    )
    pattern: str | None = field(default=None, metadata={"help": "write a text that this regular expression matches"})
    schema: str | None = field(default=None, metadata={"help": "write JSON that fits this JSON schema"})

    def __post_init__(self) -> None:
        for name in ("stop_text", "choices"):  # a single text, or a list, becomes a tuple
            given: Any = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, (given,) if isinstance(given, str) else tuple(given))
        schema: Any = self.schema
        if isinstance(schema, Mapping | bool):  # as Python has it
            object.__setattr__(self, "schema", json.dumps(schema))
        check_bounds(self)
        self._check_drawing()
        if "" in self.stop_text:
            raise ValueError("stop_text is empty, and nothing comes before that; give a text or leave it out")
        if self.form() and self.stop_text:
            raise ValueError("stop_text would cut off what choices, pattern or schema promise; leave one of them out")

    def form(self) -> "Grammar | None":
        """What the text has to be like, from `choices`, `pattern` or `schema`; None where it is free."""
        given = [name for name in ("choices", "pattern", "schema") if getattr(self, name) is not None]
        if not given:
            return None
        if len(given) > 1:
            raise ValueError(f"{given[0]} and {given[1]} are two forms for one text; leave one of them out")
        from clearformer.decoding.constraints import grammar, json_schema, regex

        if self.choices is not None:
            return grammar.choices(self.choices)
        return (
            regex.whole_match(self.pattern) if self.pattern is not None else json_schema.read_schema(self.schema or "")
        )

    def _check_drawing(self) -> None:
        for name in ("top_p", "min_p", "repetition_penalty"):
            if getattr(self, name) == 0:
                raise ValueError(f"{name} must be above 0, not 0")
        if self.temperature == 0 and (self.top_k, self.top_p, self.min_p) != (None, None, None):
            raise ValueError(
                "top_k and top_p and min_p choose among the tokens that chance draws from; set temperature above 0"
            )
        if self.temperature == 0 and self.samples > 1:
            raise ValueError("samples above 1 would all be the same text; set temperature above 0")


def usual_writing(provenance: Mapping[str, Any]) -> GenerationConfig:
    """How a model folder's own recipe writes, or our defaults where the folder does not say."""
    return GenerationConfig(**remembered(provenance, {"temperature": (int, float)}))
