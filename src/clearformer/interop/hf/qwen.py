"""Qwen 2, 2.5 and 3 (Yang et al., 2024, 2025): Llama with biases of queries, keys and values, or with normed heads."""

from dataclasses import replace
from typing import Any

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf import llama
from clearformer.interop.hf.rotary import LayerWindows, layer_types, position
from clearformer.interop.renaming import RenamingTable
from clearformer.model.config import AttentionConfig, ModelConfig

MODEL_TYPES = ("qwen2", "qwen3")
PREFIX = llama.PREFIX


def read_config(keys: Keys) -> ModelConfig:
    """From a published config.json."""
    normed = keys.model_type == "qwen3"
    layers, heads = keys.layers("num_hidden_layers"), keys.size("num_attention_heads", most=4096)
    dim = keys.size("hidden_size")
    width = keys.optional_size("head_dim")
    bias = keys.flag("attention_bias") if normed else True
    if not normed:
        keys.must("attention_bias", True)  # not a switch: the published code always has them
    windows = _windows(keys, layers)
    config = llama.built(
        keys,
        attention=AttentionConfig(
            heads=heads,
            kv_heads=keys.optional_size("num_key_value_heads"),
            head_dim=width,
            bias=bias,
            out_bias=None if normed else False,
            norm=normed,
            window=windows.back,
            wide=windows.wide,
        ),
        position=position(keys, width=width or dim // heads),
        bias=False,
    )
    keys.must("mlp_bias", False)
    keys.finish()
    return replace(config, family=str(keys.model_type))


def write_config(config: ModelConfig) -> dict[str, Any]:
    """To a config.json that the library opens."""
    heads = config.attention
    window = None if heads.window is None else heads.window + 1
    plain = llama.written(config) | {
        "model_type": "qwen3" if heads.norm else "qwen2",
        "use_sliding_window": window is not None,
        "sliding_window": window,
        "layer_types": layer_types(heads.window, heads.wide, config.layers),
    }
    if not heads.norm:
        plain = llama.without_usual_width(plain, config)
        del plain["attention_bias"]
    del plain["mlp_bias"]
    return plain


def names(config: ModelConfig) -> RenamingTable:
    """Our names and theirs."""
    return llama.names(config)


def _windows(keys: Keys, layers: int) -> LayerWindows:
    """Without use_sliding_window nothing is narrow. By default the layers from max_window_layers on are."""
    used, first = keys.flag("use_sliding_window"), keys.plain.get("max_window_layers", 28)
    width = keys.optional_size("sliding_window")
    keys.ignore("max_window_layers")
    if isinstance(first, bool) or not isinstance(first, int):
        raise ValueError(f"{keys.where}: max_window_layers must be a whole number, not {first!r}")
    near = used and width is not None
    return LayerWindows.read(
        keys, layers, width=width if used else None, sliding={layer: near and layer >= first for layer in range(layers)}
    )
