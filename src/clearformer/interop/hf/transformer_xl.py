"""Transformer-XL (Dai et al., 2019), with the names of the published code, which has since left the library.

The model of the paper's WikiText-103 folder divides its vocabulary by frequency (cutoffs, adaptive softmax), which no
model here does; such a folder is refused.
"""

from typing import Any

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.architectures import refuse_heads
from clearformer.interop.renaming import RenamingTable, Rule, pairs, under
from clearformer.model.config import (
    AttentionConfig,
    DropoutConfig,
    EmbeddingConfig,
    HeadConfig,
    ModelConfig,
    NormConfig,
)
from clearformer.model.families import transformer_xl

MODEL_TYPES = ("transfo-xl",)
PREFIX = "transformer."

LAYER = [
    Rule(("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"), "dec_attn.qkv_net"),
    *pairs(
        {
            "self_attn.out_proj": "dec_attn.o_net",
            "self_attn.position.r_proj": "dec_attn.r_net",
            "self_attn.position.content_bias": "dec_attn.r_w_bias",
            "self_attn.position.distance_bias": "dec_attn.r_r_bias",
            "self_attn_residual.after": "dec_attn.layer_norm",
            "ffn.up_proj": "pos_ff.CoreNet.0",
            "ffn.down_proj": "pos_ff.CoreNet.3",
            "ffn_residual.after": "pos_ff.layer_norm",
        }
    ),
]


def read_config(keys: Keys) -> ModelConfig:
    """From a published config.json."""
    refuse_heads(keys, "language-model")
    keys.must("cutoffs", [])
    keys.must("div_val", 1)
    keys.must("attn_type", 0)
    keys.must("pre_lnorm", False)
    keys.must("same_length", False)
    keys.must("untie_r", True)
    keys.must("clamp_len", -1, 0)
    keys.must("tie_word_embeddings", True)
    keys.must("tie_weight", True)
    keys.ignore("mem_len", "ext_len", "tgt_len", "adaptive", "sample_softmax", "tie_projs", "proj_share_all_but_first")
    keys.ignore("init", "init_range", "proj_init_std", "n_token", "is_encoder_decoder", "is_decoder")
    dim, drop = keys.size("d_model"), keys.rate("dropout")
    keys.must("d_embed", dim)
    config = transformer_xl(
        vocab_size=keys.size("vocab_size"),
        dim=dim,
        hidden_dim=keys.size("d_inner"),
        layers=keys.layers("n_layer"),
        attention=AttentionConfig(heads=keys.size("n_head"), head_dim=keys.size("d_head"), bias=False),
        norm=NormConfig(eps=keys.not_negative("layer_norm_epsilon")),
        dropout=DropoutConfig(embedding=drop, residual=drop, activation=drop, attention=keys.rate("dropatt")),
        embedding=EmbeddingConfig(scale=True, tie="all"),
        head=HeadConfig(bias=True),
        init_std=keys.not_negative("init_std"),
    )
    keys.finish()
    return config


def write_config(config: ModelConfig) -> dict[str, Any]:
    """To the config.json that the published code read."""
    width = config.attention.head_dim or config.dim // config.attention.heads
    return {
        "model_type": "transfo-xl",
        "vocab_size": config.vocab_size,
        "cutoffs": [],
        "div_val": 1,
        "d_model": config.dim,
        "d_embed": config.dim,
        "d_inner": config.hidden_dim,
        "d_head": width,
        "n_head": config.attention.heads,
        "n_layer": config.layers,
        "untie_r": True,
        "pre_lnorm": False,
        "clamp_len": -1,
        "attn_type": 0,
        "same_length": False,
        "dropout": config.dropout.residual,
        "dropatt": config.dropout.attention,
        "layer_norm_epsilon": config.norm.eps,
        "init_std": config.init_std or 0.02,
    }


def names(config: ModelConfig) -> RenamingTable:
    """Our names and theirs."""
    words = f"{PREFIX}word_emb.emb_layers.0.weight"
    return RenamingTable(
        [
            Rule("decoder.front.embed.weight", words),
            Rule("head.bias", "crit.out_layers.0.bias"),
            *under("decoder.layers.*", f"{PREFIX}layers.*", LAYER),
        ],
        copies={"crit.out_layers.0.weight": words},
        aside={"*pos_emb.inv_freq": "frequencies that follow from config.json"},
    )
