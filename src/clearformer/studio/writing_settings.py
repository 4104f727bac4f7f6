"""How a text is written: the settings that the pages ask for, and what they are when nobody asks.

The fields are those of `DecodingConfig` and `GenerationConfig`. Here stands only what a page adds: which of them it
shows, for which method, and bounds for answers that somebody waits for.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

from clearformer.foundation.forms import FormField, describe_fields
from clearformer.inference.generation_settings import GenerationConfig
from clearformer.inference.translation_settings import DecodingConfig

Method = Literal["beam", "greedy", "sampling"]
Task = Literal["translate", "generate", "read"]


@dataclass(frozen=True, kw_only=True)
class WritingSettings:
    """A method, and the settings of all methods. Hashable, so that answers can be remembered by it."""

    method: Method = field(
        default="beam",
        metadata={"help": "keep several hypotheses, take the likeliest token each time, or draw tokens by chance"},
    )
    decoding: DecodingConfig = field(default_factory=DecodingConfig)
    # A continuation has no source to measure its length by; 40 tokens come soon enough.
    generation: GenerationConfig = field(default_factory=lambda: GenerationConfig(temperature=1.0, max_new=40))


@dataclass(frozen=True, kw_only=True)
class Shown:
    """When a field is shown, and bounds that are narrower than the library's."""

    methods: tuple[Method, ...] = ("beam", "greedy", "sampling")
    tasks: tuple[Task, ...] = ("translate", "generate")
    least: float | None = None
    most: float | None = None


SHOWN: dict[str, Shown] = {
    "method": Shown(),
    "beam": Shown(methods=("beam",), most=16),
    "penalty": Shown(methods=("beam",)),
    "alpha": Shown(methods=("beam",), least=-2, most=5),
    "stop": Shown(methods=("beam",)),
    "no_repeat_ngram": Shown(tasks=("translate",), most=16),
    "temperature": Shown(methods=("sampling",), least=0.01, most=10),
    "top_k": Shown(methods=("sampling",), most=1000),
    "top_p": Shown(methods=("sampling",), least=0.01),
    "min_p": Shown(methods=("sampling",), least=0.001),
    "seed": Shown(methods=("sampling",), least=0, most=2**31 - 1),
    "samples": Shown(methods=("sampling",), tasks=("generate",), most=8),
    "repetition_penalty": Shown(methods=("greedy", "sampling"), tasks=("generate",), least=0.1, most=10),
    "max_new": Shown(tasks=("generate",), most=200),
    "lookup": Shown(methods=("greedy",), tasks=("generate",)),
    "stop_text": Shown(methods=("greedy", "sampling"), tasks=("generate",)),
    "choices": Shown(tasks=("generate",)),
    "pattern": Shown(tasks=("generate",)),
    "schema": Shown(tasks=("generate",)),
}


class WritingField(FormField):
    """A field of the form, and for which methods and tasks it is shown."""

    methods: tuple[Method, ...]
    tasks: tuple[Task, ...]


def fields_of(settings: WritingSettings) -> list[WritingField]:
    """The form, with these settings as its defaults."""
    values = {"method": settings.method, **vars(settings.decoding), **vars(settings.generation)}
    return [_field(told, SHOWN[told["name"]], values[told["name"]]) for told in _described()]


def settings_from(usual: DecodingConfig, given: Mapping[str, Any]) -> WritingSettings:
    """What was asked for; everything else as the model folder's own recipe has it (`usual`)."""
    start = WritingSettings(decoding=replace(usual, nbest=usual.beam))
    decoding = {name: given[name] for name in _names(DecodingConfig) if name in given}
    if "beam" in decoding:
        decoding["nbest"] = decoding["beam"]  # the page shows all alternatives that a search has found
    generation = {name: given[name] for name in _names(GenerationConfig) if name in given}
    return WritingSettings(
        method=given.get("method", start.method),
        decoding=replace(start.decoding, **decoding),
        generation=replace(start.generation, **generation),
    )


def _described() -> list[FormField]:
    sources = (WritingSettings, DecodingConfig, GenerationConfig)
    found = {
        told["name"]: told
        for source in sources
        for told in describe_fields(source, only=[name for name in _names(source) if name in SHOWN])
    }
    return [found[name] for name in SHOWN]


def _names(options: type) -> list[str]:
    return [one.name for one in fields(options)]


def _field(told: FormField, shown: Shown, default: Any) -> WritingField:
    least = told["least"] if shown.least is None else shown.least
    most = told["most"] if shown.most is None else shown.most
    plain = list(default) if isinstance(default, tuple) else default
    bounded: FormField = {**told, "least": least, "most": most, "default": plain}
    return {**bounded, "methods": shown.methods, "tasks": shown.tasks}
