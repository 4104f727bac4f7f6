"""ALBERT (Lan et al., 2020): one layer run many times, and a narrow embedding that is widened."""

from dataclasses import replace
from typing import Any

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.architectures import refuse_heads, task_head
from clearformer.interop.hf.bert import EMBEDDINGS, HEADS, choices, copies, prefixed, sizes, written
from clearformer.interop.renaming import RenamingTable, Rule, pairs, under
from clearformer.model.config import HeadConfig, ModelConfig
from clearformer.model.families import albert

MODEL_TYPES = ("albert",)
PREFIX = "albert."

LAYER = pairs(
    {
        "self_attn.q_proj": "attention.query",
        "self_attn.k_proj": "attention.key",
        "self_attn.v_proj": "attention.value",
        "self_attn.out_proj": "attention.dense",
        "self_attn_residual.after": "attention.LayerNorm",
        "ffn.up_proj": "ffn",
        "ffn.down_proj": "ffn_output",
        "ffn_residual.after": "full_layer_layer_norm",
    }
)
TOPS = pairs(
    {
        "head.transform.0": "predictions.dense",
        "head.transform.2": "predictions.LayerNorm",
        "head.table": "predictions.decoder.weight",
        "head.bias": "predictions.bias",
        "head.classify": "classifier",
        "head.mark": "qa_outputs",
    }
)


def read_config(keys: Keys) -> ModelConfig:
    """From a published config.json. Several groups of layers are refused: here all layers share one set of weights."""
    keys.must("num_hidden_groups", 1)
    keys.must("inner_group_num", 1)
    keys.ignore("down_scale_factor", "gap_size", "net_structure_type", "num_memory_blocks", "classifier_dropout")
    given = choices(keys)
    given["embedding"] = replace(given["embedding"], dim=keys.size("embedding_size"))
    config = albert(**sizes(keys), **given, head=_head(keys))
    keys.finish()
    return config


def write_config(config: ModelConfig) -> dict[str, Any]:
    """To a config.json that the library opens."""
    plain = written(config)
    plain["classifier_dropout_prob"] = plain.pop("classifier_dropout") or 0.0
    sizes = {"max_position_embeddings": config.max_len, "embedding_size": config.embedding.dim}
    return {"model_type": "albert", "num_hidden_groups": 1, "inner_group_num": 1, **sizes, **plain}


def names(config: ModelConfig) -> RenamingTable:
    """Our names and theirs. The one layer is our layer 0."""
    prefix = "" if config.head.kind == "states" else PREFIX
    body = [
        *EMBEDDINGS,
        Rule("encoder.front.widen", "encoder.embedding_hidden_mapping_in"),
        *under("encoder.layers.0", "encoder.albert_layer_groups.0.albert_layers.0", LAYER),
    ]
    aside = {
        "*embeddings.position_ids": "the numbers 0, 1, 2, …",
        "sop_classifier.*": "a head for the order of sentences, which the model here does not have",
    }
    if not config.head.pooler:
        aside[f"{prefix}pooler.*"] = "a pooler that this head does not use"
    return RenamingTable(
        [*prefixed(prefix, body), Rule("head.pooler", f"{prefix}pooler"), *TOPS],
        copies=copies(config, prefix, "predictions.decoder", "predictions.bias"),
        aside=aside,
    )


def _head(keys: Keys) -> HeadConfig:
    kind = refuse_heads(keys, *HEADS)
    drop = keys.rate("classifier_dropout_prob")
    if kind == "states":
        return HeadConfig(kind="states", pooler=keys.has("pooler.weight"))
    if kind == "language-model":
        return HeadConfig(transform=True, bias=True)
    return task_head(keys, kind, dropout=drop, pooler=True)
