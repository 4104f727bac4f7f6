"""Llama and what is built like it (Touvron et al., 2023): Llama 1 and 2, Mistral, SmolLM, TinyLlama.

A scaling of the rotary angles other than linear is refused by name: "llama3", "dynamic" and "yarn" are other formulas.
"""

from collections.abc import Mapping
from typing import Any

from clearformer.interop.config_keys import Keys, positive, shown
from clearformer.interop.hf.architectures import classifier_dropout, refuse_heads, task_head
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
ACTIVATIONS = {
    "silu": "silu",
    "swish": "silu",
    "gelu": "gelu",
    "gelu_new": "gelu-tanh",
    "gelu_pytorch_tanh": "gelu-tanh",
}

LAYER = pairs(
    {
        "self_attn.q_proj": "self_attn.q_proj",
        "self_attn.k_proj": "self_attn.k_proj",
        "self_attn.v_proj": "self_attn.v_proj",
        "self_attn.out_proj": "self_attn.o_proj",
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
    kind = refuse_heads(keys, "language-model", "states", "class", "tags")
    keys.padding()
    dropout = DropoutConfig(embedding=0.0, residual=0.0, attention=keys.rate("attention_dropout"))
    config = llama(
        vocab_size=keys.size("vocab_size"),
        dim=keys.size("hidden_size"),
        hidden_dim=keys.size("intermediate_size"),
        layers=keys.layers("num_hidden_layers"),
        max_len=keys.size("max_position_embeddings"),
        attention=AttentionConfig(
            heads=keys.size("num_attention_heads", most=4096),
            kv_heads=keys.optional_size("num_key_value_heads"),
            head_dim=keys.optional_size("head_dim"),
            bias=_bias(keys, "attention_bias"),
            window=_window(keys),
        ),
        position=_position(keys),
        norm=NormConfig(kind="rms", place="pre", eps=keys.not_negative("rms_norm_eps")),
        activation=keys.choice("hidden_act", ACTIVATIONS),
        bias=_bias(keys, "mlp_bias"),
        dropout=dropout,
        embedding=EmbeddingConfig(tie="all" if keys.flag("tie_word_embeddings") else "none"),
        head=_head(keys, kind),
        init_std=keys.not_negative("initializer_range"),
    )
    keys.finish()
    return config


def write_config(config: ModelConfig) -> dict[str, Any]:
    """To a config.json that the library opens."""
    position = config.position
    rope: dict[str, Any] = {"rope_type": "default", "rope_theta": position.base}
    if position.scaling == "linear":
        rope |= {"rope_type": "linear", "factor": position.factor}
    heads = config.attention
    window = {} if heads.window is None else {"sliding_window": heads.window + 1}
    return {
        "model_type": "mistral" if window else "llama",
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
        "rope_parameters": rope,
        "tie_word_embeddings": config.embedding.tie in ("all", "output"),
        "initializer_range": config.init_std or 0.02,
        **({"classifier_dropout": config.head.dropout} if config.head.kind == "tags" else {}),
        **window,
    }


def names(config: ModelConfig) -> RenamingTable:
    """Our names and theirs."""
    prefix = "" if config.head.kind == "states" else PREFIX
    body = pairs({"decoder.front.embed": f"{prefix}embed_tokens", "decoder.norm": f"{prefix}norm"})
    heads = pairs({"head.table": "lm_head.weight", "head.classify": "score"})
    tied = config.embedding.tie in ("all", "output")
    return RenamingTable(
        [*body, *under("decoder.layers.*", f"{prefix}layers.*", LAYER), *heads],
        copies={"lm_head.weight": f"{prefix}embed_tokens.weight"} if tied else {},
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


def _position(keys: Keys) -> PositionConfig:
    """Old files have rope_theta and rope_scaling, new ones a table rope_parameters."""
    old, new = keys.table("rope_scaling"), keys.table("rope_parameters")
    if old and new:
        raise ValueError(f"{keys.where} has rope_scaling beside rope_parameters; it is not known which of them counts")
    rope: Mapping[str, Any] = old or new or {}
    if "rope_theta" in rope:
        keys.ignore("rope_theta")
        base = positive(rope["rope_theta"], f"{keys.where}: rope_theta")
    else:
        base = keys.above_zero("rope_theta")
    kind = rope.get("rope_type", rope.get("type", "default"))
    strange = sorted(rope.keys() - {"rope_type", "type", "rope_theta", "factor"})
    if strange or kind not in ("default", "linear"):
        raise ValueError(
            f"{keys.where}: rotary angles of the kind {shown(kind)} ({', '.join(strange) or 'no more keys'}) are not "
            "supported; default and linear are"
        )
    if kind == "default":
        return PositionConfig(kind="rotary", base=base)
    factor = positive(rope.get("factor"), f"{keys.where}: the factor of a linear scaling of the rotary angles")
    return PositionConfig(kind="rotary", base=base, scaling="linear", factor=factor)
