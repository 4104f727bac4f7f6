"""Gemma 1, 2 and 3 for text (Gemma Team, 2024, 2025).

Like Llama, with scaled embeddings, GeGLU, norms whose weights are stored as their distance from one, from Gemma 2 on a
second norm in each part, scores that bend and layers that look back through a window, and normed heads in Gemma 3.
"""

from dataclasses import replace
from typing import Any

from clearformer.interop.config_keys import Keys, positive
from clearformer.interop.hf import llama
from clearformer.interop.hf.architectures import refuse_heads
from clearformer.interop.hf.bert import ACTIVATIONS
from clearformer.interop.hf.rotary import LayerWindows, layer_types, position, two_bases, written_bases
from clearformer.interop.renaming import RenamingTable, Rule, pairs, under
from clearformer.model.config import (
    Activation,
    AttentionConfig,
    EmbeddingConfig,
    ModelConfig,
    NormConfig,
)

MODEL_TYPES = ("gemma", "gemma2", "gemma3_text")
PREFIX = llama.PREFIX
_EVERY = {"gemma2": 2, "gemma3_text": 6}  # how many layers until one looks everywhere


def read_config(keys: Keys) -> ModelConfig:
    """From a published config.json."""
    refuse_heads(keys, "language-model", "states")
    first, third = keys.model_type == "gemma", keys.model_type == "gemma3_text"
    keys.must("use_bidirectional_attention", False)
    keys.must("mlp_bias", False)
    if third:
        keys.must("attn_logit_softcapping", None)  # its published code has the setting, and does not use it
    layers, heads = keys.layers("num_hidden_layers"), keys.size("num_attention_heads", most=4096)
    windows = LayerWindows(None, ()) if first else _windows(keys, layers)
    width = keys.size("head_dim")
    place = two_bases(keys, far="rope_theta", near="rope_local_base_freq") if third else position(keys, width=width)
    config = llama.built(
        keys,
        activation="hidden_act" if first else "hidden_activation",
        attention=AttentionConfig(
            heads=heads,
            kv_heads=keys.optional_size("num_key_value_heads"),
            head_dim=width,
            bias=keys.flag("attention_bias"),
            scale=None if first else keys.above_zero("query_pre_attn_scalar") ** -0.5,
            cap=_cap(keys, "attn_logit_softcapping") if keys.model_type == "gemma2" else None,
            norm=third,
            window=windows.back,
            wide=windows.wide,
        ),
        position=place,
        bias=False,
    )
    head = replace(config.head, cap=None if first else _cap(keys, "final_logit_softcapping"))
    activation = _activation(keys, config)
    keys.finish()
    return replace(
        config,
        activation=activation,
        family=str(keys.model_type),
        head=head if head.kind == "language-model" else config.head,
        norm=NormConfig(kind="rms", place="pre" if first else "sandwich", eps=config.norm.eps),
        embedding=EmbeddingConfig(scale=True, tie=config.embedding.tie),
    )


def write_config(config: ModelConfig) -> dict[str, Any]:
    """To a config.json that the library opens."""
    heads, plain = config.attention, llama.written(config)
    del plain["mlp_bias"]
    if config.norm.place == "pre":
        return plain | {"model_type": "gemma"}
    plain["hidden_activation"] = plain.pop("hidden_act")
    window = heads.window
    plain |= {
        "model_type": "gemma3_text" if heads.norm else "gemma2",
        "query_pre_attn_scalar": round((heads.scale or 1.0) ** -2),
        "attn_logit_softcapping": heads.cap,
        "final_logit_softcapping": config.head.cap,
        "sliding_window": 4096 if window is None else window + 1,
        "layer_types": layer_types(window, heads.wide, config.layers),
    }
    if heads.norm:
        plain["rope_parameters"] = written_bases(config.position)
    return plain


def names(config: ModelConfig) -> RenamingTable:
    """Our names and theirs. Norms are stored as their distance from one."""
    table, prefix = llama.names(config), llama.prefix(config)
    norms = {"self_attn_residual.before": "input_layernorm"}
    if config.norm.place == "sandwich":
        norms |= {"self_attn_residual.inside": "post_attention_layernorm"}
        norms |= {
            "ffn_residual.before": "pre_feedforward_layernorm",
            "ffn_residual.inside": "post_feedforward_layernorm",
        }
    else:
        norms |= {"ffn_residual.before": "post_attention_layernorm"}
    norms |= {"self_attn.q_norm": "self_attn.q_norm", "self_attn.k_norm": "self_attn.k_norm"}
    around_one = [Rule(ours, theirs, plus=1.0) for ours, theirs in norms.items()]
    kept = [rule for rule in llama.LAYER if "norm" not in rule.theirs]
    layers = under("decoder.layers.*", f"{prefix}layers.*", [*kept, *around_one])
    ends = pairs({"decoder.front.embed": f"{prefix}embed_tokens", "head.table": "lm_head.weight"})
    return replace(table, rules=[*ends, Rule("decoder.norm", f"{prefix}norm", plus=1.0), *layers])


def _activation(keys: Keys, config: ModelConfig) -> Activation:
    """Gemma 1 has two names for it. Of the older, "gelu" means the approximation; the newer one may only repeat it."""
    if keys.model_type != "gemma":
        return config.activation
    found: Activation = "gelu-tanh" if keys.plain.get("hidden_act") == "gelu" else config.activation
    again = keys.plain.get("hidden_activation")
    keys.ignore("hidden_activation")
    if again is not None and ACTIVATIONS.get(str(again)) != found:
        raise ValueError(f"{keys.where}: hidden_activation is {again!r} beside a hidden_act that means {found}")
    return found


def _cap(keys: Keys, key: str) -> float | None:
    given = keys.plain.get(key, keys.defaults[key])
    keys.ignore(key)
    return None if given is None else positive(given, f"{keys.where}: {key}")


def _windows(keys: Keys, layers: int) -> LayerWindows:
    every = _EVERY[str(keys.model_type)]
    if keys.model_type == "gemma3_text" and "sliding_window_pattern" in keys.plain:
        every = keys.size("sliding_window_pattern")
    keys.ignore("_sliding_window_pattern")
    sliding = {layer: (layer + 1) % every != 0 for layer in range(layers)}
    return LayerWindows.read(keys, layers, width=keys.optional_size("sliding_window"), sliding=sliding)
