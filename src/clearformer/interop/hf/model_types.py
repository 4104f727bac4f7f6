"""Which file reads which family, by the `model_type` of config.json."""

from collections.abc import Mapping
from typing import Any, Protocol, cast

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf import (
    albert,
    bart,
    beit,
    bert,
    bloom,
    clip,
    deberta_v2,
    deit,
    dinov2,
    distilbert,
    electra,
    gemma,
    gpt2,
    gpt_neox,
    llama,
    m2m_100,
    marian,
    mixtral,
    modernbert,
    opt,
    phi3,
    qwen,
    roberta,
    roformer,
    siglip,
    smollm3,
    t5,
    transformer_xl,
    vit,
    wav2vec2,
    whisper,
)
from clearformer.interop.hf.unopened import UNOPENED
from clearformer.interop.renaming import RenamingTable
from clearformer.model.config import ModelConfig


class Family(Protocol):
    """What each of the files has."""

    MODEL_TYPES: tuple[str, ...]

    def read_config(self, keys: Keys) -> ModelConfig: ...

    def write_config(self, config: ModelConfig) -> dict[str, Any]: ...

    def names(self, config: ModelConfig) -> RenamingTable: ...


_FILES = (
    *(bert, roberta, distilbert, albert, roformer, electra, modernbert, deberta_v2),
    *(gpt2, llama, mixtral, qwen, gemma, smollm3, phi3, gpt_neox, opt, bloom, transformer_xl),
    *(bart, m2m_100, t5, marian, whisper, wav2vec2),
    *(vit, deit, dinov2, beit, clip, siglip),
)
FAMILIES: dict[str, Family] = {word: cast(Family, file) for file in _FILES for word in file.MODEL_TYPES}


def family_of(plain: Mapping[str, Any], chosen: str | None = None) -> Family:
    """The file for a config.json, or for the family that the caller names."""
    word = chosen or plain.get("model_type")
    if not isinstance(word, str) or not word:
        raise ValueError(f"config.json has no model_type; say with --as which family it is: {', '.join(FAMILIES)}")
    if word in UNOPENED:
        raise ValueError(f"models of the family {word} are not opened here: {UNOPENED[word]}")
    if word not in FAMILIES:
        raise ValueError(f"{word!r} is not a known family; known are {', '.join(FAMILIES)}")
    return FAMILIES[word]


def prefix_of(family: Family, model_type: object = None) -> str:
    """The prefix that a model with a head adds to the names of the model without one."""
    return str(getattr(family, "PREFIXES", {}).get(model_type) or getattr(family, "PREFIX", ""))


def processor_of(family: Family) -> dict[str, Any]:
    """How its pictures are prepared where no file says it, and whether they may have any size."""
    return {"processor": getattr(family, "PROCESSOR", "ViT"), "any_size": getattr(family, "ANY_SIZE", False)}
