"""SmolLM3 (Bakouch et al., 2025): Llama in which every fourth layer has no positions."""

from dataclasses import replace
from typing import Any

from clearformer.interop.config_keys import Keys, shown
from clearformer.interop.hf import llama
from clearformer.interop.hf.rotary import LayerWindows, layer_types, position
from clearformer.interop.renaming import RenamingTable
from clearformer.model.config import AttentionConfig, ModelConfig

MODEL_TYPES = ("smollm3",)
PREFIX = llama.PREFIX


def read_config(keys: Keys) -> ModelConfig:
    """From a published config.json."""
    layers, heads = keys.layers("num_hidden_layers"), keys.size("num_attention_heads", most=4096)
    dim, width = keys.size("hidden_size"), keys.optional_size("head_dim")
    absent = _absent(keys, layers)
    used = keys.flag("use_sliding_window")
    reach = keys.optional_size("sliding_window") if used else None
    keys.ignore("sliding_window", "max_window_layers")
    sliding = {layer: reach is not None and layer in absent for layer in range(layers)}
    windows = LayerWindows.read(keys, layers, width=reach, sliding=sliding)
    config = llama.built(
        keys,
        attention=AttentionConfig(
            heads=heads,
            kv_heads=keys.optional_size("num_key_value_heads"),
            head_dim=width,
            bias=keys.flag("attention_bias"),
            window=windows.back,
            wide=windows.wide,
        ),
        position=replace(position(keys, width=width or dim // heads), absent=absent),
        bias=keys.flag("mlp_bias"),
    )
    keys.ignore("pretraining_tp")
    keys.finish()
    return replace(config, family="smollm3")


def write_config(config: ModelConfig) -> dict[str, Any]:
    """To a config.json that the library opens."""
    heads = config.attention
    window = None if heads.window is None else heads.window + 1
    return llama.without_usual_width(llama.written(config), config) | {
        "model_type": "smollm3",
        "no_rope_layers": [int(layer not in config.position.absent) for layer in range(config.layers)],
        "use_sliding_window": window is not None,
        "sliding_window": window,
        "layer_types": layer_types(heads.window, heads.wide, config.layers),
    }


def names(config: ModelConfig) -> RenamingTable:
    """Our names and theirs."""
    return llama.names(config)


def _absent(keys: Keys, layers: int) -> tuple[int, ...]:
    """The layers without positions: a list of ones and zeros, or every so many."""
    listed, every = keys.plain.get("no_rope_layers"), keys.size("no_rope_layer_interval")
    keys.ignore("no_rope_layers")
    if listed is None:
        return tuple(layer for layer in range(layers) if (layer + 1) % every == 0)
    if not isinstance(listed, list) or len(listed) != layers or any(one not in (0, 1) for one in listed):
        raise ValueError(f"{keys.where}: no_rope_layers must be a one or a zero for each layer, not {shown(listed)}")
    return tuple(layer for layer, turned in enumerate(listed) if not turned)
