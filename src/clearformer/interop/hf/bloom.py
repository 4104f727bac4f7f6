"""BLOOM (Le Scao et al., 2022): GPT-2 with penalties for distance instead of positions, and normed embeddings."""

from dataclasses import replace
from typing import Any

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.architectures import classifier_dropout, refuse_heads, task_head
from clearformer.interop.renaming import RenamingTable, Rule, pairs, under
from clearformer.model.config import (
    AttentionConfig,
    DropoutConfig,
    EmbeddingConfig,
    HeadConfig,
    ModelConfig,
    NormConfig,
    PositionConfig,
)
from clearformer.model.families import gpt2

MODEL_TYPES = ("bloom",)
PREFIX = "transformer."


def read_config(keys: Keys) -> ModelConfig:
    """From a published config.json."""
    kind = refuse_heads(keys, "language-model", "states", "class", "tags", "span")
    keys.must("apply_residual_connection_post_layernorm", False)
    keys.ignore("pretraining_tp", "slow_but_exact", "seq_length", "n_inner", "skip_bias_add", "skip_bias_add_qkv")
    keys.ignore("offset_alibi", "unk_token_id", "attention_softmax_in_fp32", "bias_dropout_fusion")
    keys.ignore("masked_softmax_fusion")
    if "n_embed" in keys.plain:  # the published code lets this name win
        dim = keys.size("n_embed")
        keys.ignore("hidden_size")
    else:
        dim = keys.size("hidden_size")
    drop = keys.rate("hidden_dropout")
    config = gpt2(
        vocab_size=keys.size("vocab_size"),
        dim=dim,
        hidden_dim=4 * dim,
        layers=keys.layers("n_layer", "num_hidden_layers"),
        attention=AttentionConfig(heads=keys.size("n_head", "num_attention_heads", most=4096)),
        position=PositionConfig(kind="alibi"),
        norm=NormConfig(place="pre", eps=keys.not_negative("layer_norm_epsilon")),
        dropout=DropoutConfig(embedding=0.0, residual=drop, attention=keys.rate("attention_dropout")),
        embedding=EmbeddingConfig(norm=True, tie="all" if keys.flag("tie_word_embeddings") else "none"),
        head=_head(keys, kind),
        init_std=keys.not_negative("initializer_range"),
    )
    keys.finish()
    return replace(config, family="bloom")


def write_config(config: ModelConfig) -> dict[str, Any]:
    """To a config.json that the library opens."""
    return {
        "model_type": "bloom",
        "vocab_size": config.vocab_size,
        "hidden_size": config.dim,
        "n_layer": config.layers,
        "n_head": config.attention.heads,
        "layer_norm_epsilon": config.norm.eps,
        "hidden_dropout": config.dropout.residual,
        "attention_dropout": config.dropout.attention,
        "tie_word_embeddings": config.embedding.tie in ("all", "output"),
        "initializer_range": config.init_std or 0.02,
        **({"classifier_dropout": config.head.dropout} if config.head.kind == "tags" else {}),
    }


def names(config: ModelConfig) -> RenamingTable:
    """Our names and theirs. Queries, keys and values are one matrix, head by head."""
    prefix = "" if config.head.kind == "states" else PREFIX
    joined = tuple(f"self_attn.{letter}_proj" for letter in "qkv")
    layer = [
        Rule(joined, "self_attention.query_key_value", heads=config.attention.heads),
        *pairs(
            {
                "self_attn.out_proj": "self_attention.dense",
                "self_attn_residual.before": "input_layernorm",
                "ffn.up_proj": "mlp.dense_h_to_4h",
                "ffn.down_proj": "mlp.dense_4h_to_h",
                "ffn_residual.before": "post_attention_layernorm",
            }
        ),
    ]
    ends = {
        "decoder.front.embed": "word_embeddings",
        "decoder.front.norm": "word_embeddings_layernorm",
        "decoder.norm": "ln_f",
    }
    classify = "score" if config.head.kind == "class" else "classifier"
    tops = pairs({"head.table": "lm_head.weight", "head.classify": classify, "head.mark": "qa_outputs"})
    tied = config.embedding.tie in ("all", "output")
    return RenamingTable(
        [
            *pairs({ours: prefix + theirs for ours, theirs in ends.items()}),
            *under("decoder.layers.*", f"{prefix}h.*", layer),
            *tops,
        ],
        copies={"lm_head.weight": f"{prefix}word_embeddings.weight"} if tied else {},
    )


def _head(keys: Keys, kind: str) -> HeadConfig:
    drop = classifier_dropout(keys)
    if kind == "class":
        return task_head(keys, kind, pool="last", class_bias=False)
    if kind == "tags":
        return task_head(keys, kind, dropout=drop)
    return HeadConfig(kind=kind)  # type: ignore[arg-type]
