"""Which file reads which family, by the `model_type` of config.json."""

from collections.abc import Mapping
from typing import Any, Protocol, cast

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf import (
    albert,
    bart,
    bert,
    distilbert,
    gpt2,
    llama,
    marian,
    roberta,
    roformer,
    t5,
    transformer_xl,
    vit,
    whisper,
)
from clearformer.interop.renaming import RenamingTable
from clearformer.model.config import ModelConfig


class Family(Protocol):
    """What each of the files has."""

    MODEL_TYPES: tuple[str, ...]

    def read_config(self, keys: Keys) -> ModelConfig: ...

    def write_config(self, config: ModelConfig) -> dict[str, Any]: ...

    def names(self, config: ModelConfig) -> RenamingTable: ...


_FILES = (bert, roberta, distilbert, albert, roformer, gpt2, llama, transformer_xl, bart, t5, marian, vit, whisper)
FAMILIES: dict[str, Family] = {word: cast(Family, file) for file in _FILES for word in file.MODEL_TYPES}


def family_of(plain: Mapping[str, Any], chosen: str | None = None) -> Family:
    """The file for a config.json, or for the family that the caller names."""
    word = chosen or plain.get("model_type")
    if not isinstance(word, str) or not word:
        raise ValueError(f"config.json has no model_type; say with --as which family it is: {', '.join(FAMILIES)}")
    if word not in FAMILIES:
        raise ValueError(f"{word!r} is not a known family; known are {', '.join(FAMILIES)}")
    return FAMILIES[word]


def prefix_of(family: Family) -> str:
    """The prefix that a model with a head adds to the names of the model without one."""
    return str(getattr(family, "PREFIX", ""))
