"""RoFormer (Su et al., 2021): BERT with rotary positions."""

from dataclasses import replace
from typing import Any

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.architectures import refuse_heads, task_head
from clearformer.interop.hf.bert import (
    EMBEDDINGS,
    HEADS,
    LAYER,
    MASKED_WORDS,
    choices,
    copies,
    prefixed,
    sizes,
    written,
)
from clearformer.interop.hf.marian import split_waves
from clearformer.interop.renaming import RenamingTable, Rule, pairs, under
from clearformer.model.config import HeadConfig, ModelConfig
from clearformer.model.families import roformer

MODEL_TYPES = ("roformer",)
PREFIX = "roformer."


def read_config(keys: Keys) -> ModelConfig:
    """From a published config.json. Rotary values (rotary_value) are refused."""
    keys.must("rotary_value", False)
    given, numbers = choices(keys), sizes(keys)
    keys.shape("encoder.embed_positions.weight", numbers["max_len"], numbers["dim"] // numbers["heads"])
    narrow = keys.optional_size("embedding_size")
    if narrow not in (None, numbers["dim"]):
        given["embedding"] = replace(given["embedding"], dim=narrow)
    config = roformer(**numbers, **given, head=_head(keys, given["activation"]))
    keys.finish()
    return config


def write_config(config: ModelConfig) -> dict[str, Any]:
    """To a config.json that the library opens."""
    return {
        "model_type": "roformer",
        "max_position_embeddings": config.max_len,
        "embedding_size": config.embedding.dim or config.dim,
        "rotary_value": False,
        **written(config),
    }


def names(config: ModelConfig) -> RenamingTable:
    """Our names and theirs."""
    prefix = "" if config.head.kind == "states" else PREFIX
    layers = under("encoder.layers.*", "encoder.layer.*", LAYER)
    body = [*EMBEDDINGS, Rule("encoder.front.widen", "embeddings_project"), *layers]
    angles = f"{prefix}encoder.embed_positions.weight"
    top = "classifier.out_proj" if config.head.kind == "class" else "classifier"
    tops = pairs({"head.pooler": "classifier.dense", "head.classify": top, "head.mark": "qa_outputs"})
    return RenamingTable(
        [*prefixed(prefix, body), *MASKED_WORDS, *tops],
        copies=copies(config, prefix, "cls.predictions.decoder", "cls.predictions.bias"),
        fixed={angles: split_waves},
        made={angles: (config.max_len, config.dim // config.attention.heads)},
        aside={
            "cls.seq_relationship.*": "a head for next sentences, which the model here does not have",
        },
    )


def _head(keys: Keys, activation: str) -> HeadConfig:
    kind = refuse_heads(keys, *HEADS)
    drop = keys.rate("hidden_dropout_prob")
    keys.ignore("classifier_dropout")
    if kind == "states":
        return HeadConfig(kind="states")
    if kind == "language-model":
        return HeadConfig(transform=True, bias=True)
    return task_head(keys, kind, dropout=drop, pooler=True, pooler_activation=activation)
