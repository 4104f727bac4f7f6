"""RoBERTa (Liu et al., 2019) and its multilingual relative XLM-R: BERT whose positions begin after the padding id."""

from dataclasses import replace
from typing import Any

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.architectures import refuse_heads, task_head
from clearformer.interop.hf.bert import (
    ASIDE,
    EMBEDDINGS,
    HEADS,
    LAYER,
    choices,
    copies,
    prefixed,
    sizes,
    written,
)
from clearformer.interop.hf.bert import head as bert_head
from clearformer.interop.renaming import RenamingTable, Rule, pairs, under
from clearformer.model.config import HeadConfig, ModelConfig, PositionConfig
from clearformer.model.families import roberta

MODEL_TYPES = ("roberta", "xlm-roberta", "camembert")
PREFIX = "roberta."

TOPS = pairs(
    {
        "head.transform.0": "lm_head.dense",
        "head.transform.2": "lm_head.layer_norm",
        "head.bias": "lm_head.bias",
        "head.mark": "qa_outputs",
    }
)


def read_config(keys: Keys) -> ModelConfig:
    """From a published config.json. Position numbers begin at pad_token_id + 1, so that number is part of the model."""
    padding = keys.plain.get("pad_token_id", keys.defaults["pad_token_id"])
    if isinstance(padding, bool) or not isinstance(padding, int) or padding < 0:
        raise ValueError(f"{keys.where}: pad_token_id must be a whole number, not {padding!r}")
    given = sizes(keys)
    if given["max_len"] <= padding + 1:
        raise ValueError(f"{keys.where}: max_position_embeddings leaves no position behind pad_token_id {padding}")
    given["max_len"] -= padding + 1
    position = PositionConfig(kind="learned", offset=padding + 1)
    config = roberta(**given, **choices(keys), position=position, head=_head(keys))
    if config.head.transform and config.activation != "gelu":
        raise ValueError(f"{keys.where}: RoBERTa's masked words always use gelu, but hidden_act is another")
    keys.finish()
    return config


def write_config(config: ModelConfig) -> dict[str, Any]:
    """To a config.json that the library opens."""
    offset = config.position.offset
    return {
        "model_type": "roberta",
        "max_position_embeddings": config.max_len + offset,
        "pad_token_id": offset - 1,
        **written(config),
    }


def names(config: ModelConfig) -> RenamingTable:
    """Our names and theirs. The classification head has its own dense layer instead of the pooler."""
    prefix = "" if config.head.kind == "states" else PREFIX
    body = [*EMBEDDINGS, *under("encoder.layers.*", "encoder.layer.*", LAYER)]
    if config.head.kind == "class":
        tops = pairs({"head.pooler": "classifier.dense", "head.classify": "classifier.out_proj"})
    else:
        tops = pairs({"head.pooler": f"{prefix}pooler.dense", "head.classify": "classifier"})
    aside = {name: reason for name, reason in ASIDE.items() if not name.startswith("cls")}
    if config.head.kind != "states" or not config.head.pooler:
        aside["*pooler.dense.*"] = "a pooler that this head does not use"
    table = Rule("head.table", "lm_head.decoder.weight")
    return RenamingTable(
        [*prefixed(prefix, body), *TOPS, *tops, table],
        copies=copies(config, prefix, "lm_head.decoder", "lm_head.bias"),
        aside=aside,
    )


def _head(keys: Keys) -> HeadConfig:
    kind = refuse_heads(keys, *HEADS)
    found = bert_head(keys)
    return replace(task_head(keys, kind, pooler=True), dropout=found.dropout) if kind == "class" else found
