"""Llama and what is built like it (Touvron et al., 2023): Llama 1 to 3, Mistral, SmolLM, TinyLlama."""

from typing import Any

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf import rotary
from clearformer.interop.hf.architectures import classifier_dropout, refuse_heads, task_head
from clearformer.interop.hf.bert import ACTIVATIONS
from clearformer.interop.renaming import RenamingTable, pairs, under
from clearformer.model.config import (
    AttentionConfig,
    DropoutConfig,
    EmbeddingConfig,
    HeadConfig,
    ModelConfig,
    NormConfig,
    PositionConfig,
)
from clearformer.model.families import llama

MODEL_TYPES = ("llama", "mistral")
PREFIX = "model."
LAYER = pairs(
    {
        "self_attn.q_proj": "self_attn.q_proj",
        "self_attn.k_proj": "self_attn.k_proj",
        "self_attn.v_proj": "self_attn.v_proj",
        "self_attn.out_proj": "self_attn.o_proj",
        "self_attn.q_norm": "self_attn.q_norm",
        "self_attn.k_norm": "self_attn.k_norm",
        "self_attn_residual.before": "input_layernorm",
        "ffn.gate_proj": "mlp.gate_proj",
        "ffn.up_proj": "mlp.up_proj",
        "ffn.down_proj": "mlp.down_proj",
        "ffn_residual.before": "post_attention_layernorm",
    }
)


def read_config(keys: Keys) -> ModelConfig:
    """From a published config.json."""
    keys.ignore("pretraining_tp", "rope_interleaved", "is_llama_config")  # how published weights were sliced or stored
    heads, width = keys.size("num_attention_heads", most=4096), keys.optional_size("head_dim")
    config = built(
        keys,
        attention=AttentionConfig(
            heads=heads,
            kv_heads=keys.optional_size("num_key_value_heads"),
            head_dim=width,
            bias=_bias(keys, "attention_bias"),
            window=_window(keys),
        ),
        position=rotary.position(keys, width=width or max(keys.size("hidden_size") // heads, 1)),
        bias=_bias(keys, "mlp_bias"),
    )
    keys.finish()
    return config


def built(
    keys: Keys, *, attention: AttentionConfig, position: PositionConfig, bias: bool, activation: str = "hidden_act"
) -> ModelConfig:
    """What every relative of Llama has besides. activation: the key that names it."""
    kind = refuse_heads(keys, "language-model", "states", "class", "tags")
    keys.padding()
    keys.refuse_null("num_key_value_heads", "head_dim")
    return llama(
        vocab_size=keys.size("vocab_size"),
        dim=keys.size("hidden_size"),
        hidden_dim=keys.size("intermediate_size"),
        layers=keys.layers("num_hidden_layers"),
        max_len=keys.size("max_position_embeddings"),
        attention=attention,
        position=position,
        norm=NormConfig(kind="rms", place="pre", eps=keys.not_negative("rms_norm_eps")),
        activation=keys.choice(activation, ACTIVATIONS),
        bias=bias,
        dropout=DropoutConfig(embedding=0.0, residual=0.0, attention=keys.rate("attention_dropout")),
        embedding=EmbeddingConfig(tie="all" if keys.flag("tie_word_embeddings") else "none"),
        head=_head(keys, kind),
        init_std=keys.not_negative("initializer_range"),
    )


def write_config(config: ModelConfig) -> dict[str, Any]:
    """To a config.json that the library opens."""
    reach = config.attention.window
    window = {} if reach is None else {"sliding_window": reach + 1}
    return {"model_type": "mistral" if window else "llama", **written(config), **window}


def written(config: ModelConfig) -> dict[str, Any]:
    """What every relative of Llama has."""
    heads = config.attention
    return {
        "vocab_size": config.vocab_size,
        "hidden_size": config.dim,
        "intermediate_size": config.hidden_dim,
        "num_hidden_layers": config.layers,
        "num_attention_heads": heads.heads,
        "num_key_value_heads": heads.kv_heads or heads.heads,
        "head_dim": heads.head_dim or config.dim // heads.heads,
        "max_position_embeddings": config.max_len,
        "attention_bias": heads.bias,
        "mlp_bias": config.bias,
        "rms_norm_eps": config.norm.eps,
        "hidden_act": {ours: theirs for theirs, ours in reversed(ACTIVATIONS.items())}[config.activation],
        "attention_dropout": config.dropout.attention,
        "rope_parameters": rotary.written(config.position),
        "tie_word_embeddings": config.embedding.tie in ("all", "output"),
        "initializer_range": config.init_std or 0.02,
        **({"classifier_dropout": config.head.dropout} if config.head.kind == "tags" else {}),
    }


def without_usual_width(plain: dict[str, Any], config: ModelConfig) -> dict[str, Any]:
    """For relatives that have head_dim only where it is not the width divided by the heads."""
    usual = config.attention.head_dim in (None, config.dim // config.attention.heads)
    return {key: value for key, value in plain.items() if key != "head_dim" or not usual}


def prefix(config: ModelConfig) -> str:
    """What stands before the names of the body."""
    return "" if config.head.kind == "states" else PREFIX


def names(config: ModelConfig) -> RenamingTable:
    """Our names and theirs."""
    before = prefix(config)
    body = pairs({"decoder.front.embed": f"{before}embed_tokens", "decoder.norm": f"{before}norm"})
    heads = pairs({"head.table": "lm_head.weight", "head.classify": "score"})
    tied = config.embedding.tie in ("all", "output")
    return RenamingTable(
        [*body, *under("decoder.layers.*", f"{before}layers.*", LAYER), *heads],
        copies={"lm_head.weight": f"{before}embed_tokens.weight"} if tied else {},
        aside={"*rotary_emb.inv_freq": "angles that follow from config.json"},
    )


def _head(keys: Keys, kind: str) -> HeadConfig:
    drop = classifier_dropout(keys)
    if kind in ("language-model", "states"):
        return HeadConfig(kind=kind)  # type: ignore[arg-type]
    if kind == "tags":
        return task_head(keys, kind, dropout=drop)
    return task_head(keys, kind, pool="last", class_bias=False)


def _bias(keys: Keys, key: str) -> bool:
    """Mistral's published code has no such switch: its projections never have a bias."""
    if keys.model_type == "mistral":
        keys.must(key, False)
        return False
    return keys.flag(key)


def _window(keys: Keys) -> int | None:
    """They count the token itself, we count how far back it sees. Llama's published code ignores the key."""
    if keys.model_type != "mistral":
        keys.ignore("sliding_window")
        return None
    width = keys.optional_size("sliding_window")
    return None if width is None else width - 1
