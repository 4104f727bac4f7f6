"""Phi-3 and Phi-4-mini (Abdin et al., 2024): Llama with projections stored as one, whose heads may turn in part.

The long versions have a scaling of the angles (longrope) that changes with the length of the text; it is refused.
"""

from dataclasses import replace
from typing import Any

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf import llama
from clearformer.interop.hf.rotary import position
from clearformer.interop.renaming import RenamingTable, Rule, pairs, under
from clearformer.model.config import AttentionConfig, ModelConfig

MODEL_TYPES = ("phi3",)
PREFIX = llama.PREFIX

LAYER = [
    Rule(("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"), "self_attn.qkv_proj"),
    Rule(("ffn.gate_proj", "ffn.up_proj"), "mlp.gate_up_proj"),
    *pairs(
        {
            "self_attn.out_proj": "self_attn.o_proj",
            "self_attn_residual.before": "input_layernorm",
            "ffn.down_proj": "mlp.down_proj",
            "ffn_residual.before": "post_attention_layernorm",
        }
    ),
]


def read_config(keys: Keys) -> ModelConfig:
    """From a published config.json."""
    heads, dim = keys.size("num_attention_heads", most=4096), keys.size("hidden_size")
    keys.must("attention_bias", False)
    keys.must("mlp_bias", False)
    keys.ignore("original_max_position_embeddings", "embd_pdrop")  # of longrope, and never read
    width, window = keys.optional_size("head_dim"), keys.optional_size("sliding_window")
    config = llama.built(
        keys,
        attention=AttentionConfig(
            heads=heads,
            kv_heads=keys.optional_size("num_key_value_heads"),
            head_dim=width,
            bias=False,
            window=None if window is None else window - 1,
        ),
        position=position(keys, width=width or dim // heads, partial=True),
        bias=False,
    )
    dropout = replace(config.dropout, residual=keys.rate("resid_pdrop"))
    keys.finish()
    return replace(config, family="phi3", dropout=dropout)


def write_config(config: ModelConfig) -> dict[str, Any]:
    """To a config.json that the library opens."""
    heads, plain = config.attention, llama.without_usual_width(llama.written(config), config)
    width = heads.head_dim or config.dim // heads.heads
    turned = config.position.turned or width
    return {key: value for key, value in plain.items() if key not in ("attention_bias", "mlp_bias")} | {
        "model_type": "phi3",
        "sliding_window": None if heads.window is None else heads.window + 1,
        "resid_pdrop": config.dropout.residual,
        "rope_parameters": plain["rope_parameters"] | {"partial_rotary_factor": turned / width},
    }


def names(config: ModelConfig) -> RenamingTable:
    """Our names and theirs."""
    table, prefix = llama.names(config), llama.prefix(config)
    ends = [rule for rule in table.rules if "layers" not in rule.parts[0]]
    return replace(table, rules=[*ends, *under("decoder.layers.*", f"{prefix}layers.*", LAYER)])
