"""Llama and what is built like it (Touvron et al., 2023): Llama 1 and 2, Mistral, SmolLM, TinyLlama.

A scaling of the rotary angles other than linear is refused by name: "llama3", "dynamic" and "yarn" are other formulas.
"""

from collections.abc import Mapping
from typing import Any

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.architectures import refuse_heads, task_head
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
    dropout = DropoutConfig(embedding=0.0, residual=0.0, attention=keys.rate("attention_dropout", 0.0))
    config = llama(
        vocab_size=keys.size("vocab_size"),
        dim=keys.size("hidden_size"),
        hidden_dim=keys.size("intermediate_size"),
        layers=keys.layers("num_hidden_layers"),
        max_len=keys.size("max_position_embeddings"),
        attention=AttentionConfig(
            heads=keys.size("num_attention_heads", most=4096),
            kv_heads=keys.optional_size("num_key_value_heads", None),
            head_dim=keys.optional_size("head_dim", None),
            bias=keys.flag("attention_bias", False),
            window=_window(keys),
        ),
        position=_position(keys),
        norm=NormConfig(kind="rms", place="pre", eps=keys.number("rms_norm_eps", 1e-6)),
        activation=keys.choice("hidden_act", ACTIVATIONS, "silu"),
        bias=keys.flag("mlp_bias", False),
        dropout=dropout,
        embedding=EmbeddingConfig(tie="all" if keys.flag("tie_word_embeddings", False) else "none"),
        head=_head(keys, kind),
        init_std=keys.number("initializer_range", 0.02),
    )
    keys.finish()
    return config


def write_config(config: ModelConfig) -> dict[str, Any]:
    """To a config.json that opens there."""
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
    """Ours and theirs."""
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
    if kind in ("language-model", "states"):
        keys.ignore("classifier_dropout")
        return HeadConfig(kind=kind)  # type: ignore[arg-type]
    if kind == "tags":
        return task_head(keys, kind, dropout=keys.rate("classifier_dropout", 0.1))
    keys.ignore("classifier_dropout")
    return task_head(keys, kind, pool="last", class_bias=False)


def _window(keys: Keys) -> int | None:
    """They count the token itself, we count how far back it sees."""
    width = keys.optional_size("sliding_window", None)
    return None if width is None else width - 1


def _position(keys: Keys) -> PositionConfig:
    """Old files have rope_theta and rope_scaling, new ones a table rope_parameters."""
    base = keys.number("rope_theta", 10_000.0)
    rope: Mapping[str, Any] = {**(keys.table("rope_scaling") or {}), **(keys.table("rope_parameters") or {})}
    kind = rope.get("rope_type", rope.get("type", "default"))
    if "rope_theta" in rope:
        keys.assumed.pop("rope_theta", None)
        base = float(rope["rope_theta"])
    strange = sorted(rope.keys() - {"rope_type", "type", "rope_theta", "factor"})
    if strange or kind not in ("default", "linear"):
        raise ValueError(
            f"{keys.where}: rotary angles of the kind {kind!r} ({', '.join(strange) or 'no more keys'}) are not "
            "supported; default and linear are"
        )
    if kind == "default":
        return PositionConfig(kind="rotary", base=base)
    factor = rope.get("factor")
    if not isinstance(factor, int | float) or factor <= 0:
        raise ValueError(f"{keys.where}: a linear stretch of the rotary angles needs a factor above 0, not {factor!r}")
    return PositionConfig(kind="rotary", base=base, scaling="linear", factor=float(factor))
