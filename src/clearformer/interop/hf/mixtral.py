"""Mixtral (Jiang et al., 2024) and Qwen 3 with experts: Llama with many feed-forward parts, a few for each token."""

from dataclasses import replace
from typing import Any

from clearformer.interop.config_keys import Keys, shown
from clearformer.interop.hf import llama
from clearformer.interop.hf.rotary import position
from clearformer.interop.renaming import RenamingTable, pairs, under
from clearformer.model.config import AttentionConfig, ModelConfig

MODEL_TYPES = ("mixtral", "qwen3_moe")
PREFIX = llama.PREFIX
_MOST = 4096  # experts of a layer

# The published names of the part and of an expert's three matrices.
MIXTRAL = ("block_sparse_moe", {"gate_proj": "w1", "down_proj": "w2", "up_proj": "w3"})
QWEN = ("mlp", {name: name for name in ("gate_proj", "down_proj", "up_proj")})


def read_config(keys: Keys) -> ModelConfig:
    """From a published config.json."""
    qwen = keys.model_type == "qwen3_moe"
    heads, dim = keys.size("num_attention_heads", most=4096), keys.size("hidden_size")
    width = keys.optional_size("head_dim")
    if qwen and width is None and "head_dim" in keys.plain:
        raise ValueError(f"{keys.where}: head_dim is null, which the published code does not take; leave it out")
    count = keys.size("num_local_experts", "num_experts", most=_MOST)
    chosen = keys.size("num_experts_per_tok", most=_MOST)
    if chosen > count:
        raise ValueError(f"{keys.where}: num_experts_per_tok is {chosen}, but there are {count} experts")
    keys.must("mlp_bias", False)
    keys.ignore("output_router_logits", "router_aux_loss_coef")
    bias = keys.flag("attention_bias") if qwen else False
    if not qwen:
        keys.must("attention_bias", False)
        keys.must("router_jitter_noise", 0.0)
    config = llama.built(
        keys,
        attention=AttentionConfig(
            heads=heads,
            kv_heads=keys.optional_size("num_key_value_heads"),
            head_dim=width,
            bias=bias,
            norm=qwen,
            window=_window(keys, qwen),
        ),
        position=position(keys, width=width or max(dim // heads, 1)),
        bias=False,
    )
    if qwen:
        _check_every_layer(keys)
        config = replace(config, hidden_dim=keys.size("moe_intermediate_size"), rescaled=keys.flag("norm_topk_prob"))
    keys.finish()
    return replace(config, experts=count, chosen=chosen, family=str(keys.model_type))


def write_config(config: ModelConfig) -> dict[str, Any]:
    """To a config.json that the library opens."""
    reach, qwen = config.attention.window, config.attention.norm
    plain = llama.written(config) | {
        "model_type": "qwen3_moe" if qwen else "mixtral",
        "num_experts" if qwen else "num_local_experts": config.experts,
        "num_experts_per_tok": config.chosen,
        "sliding_window": None if reach is None else reach + 1,
    }
    if qwen:
        plain |= {"moe_intermediate_size": config.hidden_dim, "norm_topk_prob": config.rescaled}
        plain |= {"use_sliding_window": reach is not None, "decoder_sparse_step": 1, "mlp_only_layers": []}
    else:
        plain = llama.without_usual_width(plain, config)
        del plain["attention_bias"]
    del plain["mlp_bias"]
    return plain


def names(config: ModelConfig) -> RenamingTable:
    """Our names and theirs: those of Llama, and each expert's by its number."""
    part, matrices = QWEN if config.attention.norm else MIXTRAL
    layer = {"ffn.router": f"{part}.gate"}
    for number in range(config.experts or 0):
        layer |= {f"ffn.experts.{number}.{ours}": f"{part}.experts.{number}.{its}" for ours, its in matrices.items()}
    table = llama.names(config)
    body = under("decoder.layers.*", f"{llama.prefix(config)}layers.*", pairs(layer))
    return replace(table, rules=[*table.rules, *body])


def _window(keys: Keys, qwen: bool) -> int | None:
    """They count the token itself, we count how far back it sees; Qwen has a switch for it."""
    used = keys.flag("use_sliding_window") if qwen else True
    width = keys.optional_size("sliding_window")
    keys.ignore("max_window_layers")
    return width - 1 if used and width is not None else None


def _check_every_layer(keys: Keys) -> None:
    """Layers without experts would have another width than those with them."""
    keys.must("decoder_sparse_step", 1)
    keys.ignore("mlp_only_layers")
    if keys.plain.get("mlp_only_layers") not in (None, []):
        raise ValueError(
            f"{keys.where}: mlp_only_layers is {shown(keys.plain['mlp_only_layers'])}, layers without experts, and "
            "here every layer has them or none"
        )
