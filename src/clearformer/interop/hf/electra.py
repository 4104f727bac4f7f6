"""ELECTRA (Clark et al., 2020): BERT with a narrower table that is widened, and heads with a layer of their own."""

from dataclasses import replace
from typing import Any

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.architectures import refuse_heads, task_head
from clearformer.interop.hf.bert import ASIDE, EMBEDDINGS, HEADS, LAYER, choices, copies, prefixed, sizes, written
from clearformer.interop.hf.bert import head as bert_head
from clearformer.interop.renaming import RenamingTable, Rule, pairs, under
from clearformer.model.config import HeadConfig, ModelConfig
from clearformer.model.families import bert

MODEL_TYPES = ("electra",)
PREFIX = "electra."

TOPS = pairs(
    {
        "head.transform.0": "generator_predictions.dense",
        "head.transform.2": "generator_predictions.LayerNorm",
        "head.table": "generator_lm_head.weight",
        "head.bias": "generator_lm_head.bias",
        "head.mark": "qa_outputs",
    }
)


def read_config(keys: Keys) -> ModelConfig:
    """From a published config.json."""
    keys.ignore(*(f"summary_{end}" for end in ("type", "use_proj", "activation", "last_dropout")))
    given, width = choices(keys), keys.size("embedding_size")
    given |= sizes(keys)
    narrow = None if width == given["dim"] else width
    given["embedding"] = replace(given["embedding"], dim=narrow)
    config = bert(**given, head=_head(keys))
    if config.head.transform and config.activation != "gelu":
        raise ValueError(f"{keys.where}: ELECTRA's masked words always use gelu, but hidden_act is another")
    keys.finish()
    return replace(config, family="electra")


def write_config(config: ModelConfig) -> dict[str, Any]:
    """To a config.json that the library opens."""
    width = config.embedding.dim or config.dim
    return {
        "model_type": "electra",
        "max_position_embeddings": config.max_len,
        "embedding_size": width,
        **written(config),
    }


def names(config: ModelConfig) -> RenamingTable:
    """Our names and theirs. The classification head has its own dense layer instead of a pooler."""
    prefix = "" if config.head.kind == "states" else PREFIX
    body = [
        *EMBEDDINGS,
        Rule("encoder.front.widen", "embeddings_project"),
        *under("encoder.layers.*", "encoder.layer.*", LAYER),
    ]
    classify = "classifier.out_proj" if config.head.kind == "class" else "classifier"
    tops = pairs({"head.pooler": "classifier.dense", "head.classify": classify})
    aside = {name: reason for name, reason in ASIDE.items() if not name.startswith("cls")}
    if config.head.kind == "states":
        aside["discriminator_predictions.*"] = "a head that tells replaced words, which the model here does not have"
    return RenamingTable(
        [*prefixed(prefix, body), *TOPS, *tops],
        copies=copies(config, prefix, "generator_lm_head", "generator_lm_head.bias"),
        aside=aside,
    )


def _head(keys: Keys) -> HeadConfig:
    if keys.architecture == "ElectraForPreTraining":
        raise ValueError(
            f"{keys.where}: ElectraForPreTraining tells which words were replaced, a head that no model here has; "
            "write ElectraModel there to import it without"
        )
    kind = refuse_heads(keys, *HEADS)
    if kind == "states":
        keys.ignore("classifier_dropout")
        return HeadConfig(kind="states")
    found = bert_head(keys)
    if kind != "class":
        return found
    return task_head(keys, kind, pooler=True, pooler_activation="gelu", dropout=found.dropout)
