"""T5 (Raffel et al., 2020): version 1.0 with ReLU and one table, version 1.1 gated and with a table of its own."""

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
    PositionConfig,
)
from clearformer.model.families import t5

MODEL_TYPES = ("t5", "mt5")

# Their word for the feed-forward part: ours, and whether it is gated.
PROJECTIONS = {
    "relu": ("relu", False),
    "gated-gelu": ("gelu-tanh", True),  # "gelu" means its tanh approximation here, by an old mistake that became a rule
    "gated-silu": ("silu", True),
    "gated-relu": ("relu", True),
    "gelu": ("gelu", False),
    "silu": ("silu", False),
}


def read_config(keys: Keys) -> ModelConfig:
    """From a published config.json."""
    refuse_heads(keys, "language-model", "states")
    keys.must("is_encoder_decoder", True)
    keys.must("is_decoder", False)
    keys.must("add_cross_attention", False)
    keys.ignore("dense_act_fn", "is_gated_act", "n_positions", "classifier_dropout", "chunk_size_feed_forward")
    activation, gated = keys.choice("feed_forward_proj", PROJECTIONS, "relu")
    # tie_word_embeddings = false marks version 1.1, which also leaves out the scaling; newer files say it by itself.
    shrink = keys.flag("scale_decoder_outputs", keys.plain.get("tie_word_embeddings") is not False)
    keys.ignore("tie_word_embeddings")
    own = not shrink and keys.has("lm_head.weight")
    config = t5(
        vocab_size=keys.size("vocab_size"),
        dim=keys.size("d_model"),
        hidden_dim=keys.size("d_ff"),
        layers=keys.layers("num_layers"),
        decoder_layers=keys.optional_size("num_decoder_layers", None, 512),
        attention=AttentionConfig(heads=keys.size("num_heads"), head_dim=keys.size("d_kv"), bias=False, scale=1.0),
        position=PositionConfig(
            kind="buckets",
            buckets=keys.optional_size("relative_attention_num_buckets", 32) or 32,
            max_distance=keys.optional_size("relative_attention_max_distance", 128) or 128,
        ),
        norm=NormConfig(kind="rms", place="pre", eps=keys.number("layer_norm_epsilon", 1e-6)),
        activation=activation,
        gated=gated,
        dropout=DropoutConfig.everywhere(keys.rate("dropout_rate", 0.1)),
        embedding=EmbeddingConfig(tie="inputs" if own else "all"),
        head=HeadConfig(shrink=shrink),
    )
    keys.finish()
    return config


def write_config(config: ModelConfig) -> dict[str, Any]:
    """To a config.json that opens there."""
    spelt = {ours: theirs for theirs, ours in PROJECTIONS.items()}
    return {
        "model_type": "t5",
        "vocab_size": config.vocab_size,
        "d_model": config.dim,
        "d_ff": config.hidden_dim,
        "d_kv": config.attention.head_dim or config.dim // config.attention.heads,
        "num_layers": config.layers,
        "num_decoder_layers": config.decoder_layers or config.layers,
        "num_heads": config.attention.heads,
        "relative_attention_num_buckets": config.position.buckets,
        "relative_attention_max_distance": config.position.max_distance,
        "layer_norm_epsilon": config.norm.eps,
        "feed_forward_proj": spelt[config.activation, config.gated],
        "dropout_rate": config.dropout.residual,
        "tie_word_embeddings": config.head.shrink,
        "is_encoder_decoder": True,
    }


def names(config: ModelConfig) -> RenamingTable:
    """Ours and theirs. The bias of positions is layer 0's, for all layers."""
    rules = pairs({"encoder.front.embed": "shared", "head.table": "lm_head.weight"})
    for stack, last in (("encoder", 1), ("decoder", 2)):
        dense = f"layer.{last}.DenseReluDense"
        layer = {
            **_attention("self_attn", "layer.0", "SelfAttention"),
            **(_attention("cross_attn", "layer.1", "EncDecAttention") if last == 2 else {}),
            "ffn.gate_proj": f"{dense}.wi_0",
            "ffn.up_proj": f"{dense}.wi_1" if config.gated else f"{dense}.wi",
            "ffn.down_proj": f"{dense}.wo",
            "ffn_residual.before": f"layer.{last}.layer_norm",
        }
        rules += under(f"{stack}.layers.*", f"{stack}.block.*", pairs(layer))
        positions = f"{stack}.block.0.layer.0.SelfAttention.relative_attention_bias"
        rules += [Rule(f"{stack}.layers.0.self_attn.position.table", positions)]
        rules += [Rule(f"{stack}.norm", f"{stack}.final_layer_norm")]
    tables = ["encoder.embed_tokens.weight", "decoder.embed_tokens.weight"]
    tables += ["lm_head.weight"] if config.embedding.tie == "all" else []
    return RenamingTable(
        rules,
        copies=dict.fromkeys(tables, "shared.weight"),
        aside={
            "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight": "a bias that was never used",
        },
    )


def _attention(ours: str, layer: str, theirs: str) -> dict[str, str]:
    return {
        f"{ours}.q_proj": f"{layer}.{theirs}.q",
        f"{ours}.k_proj": f"{layer}.{theirs}.k",
        f"{ours}.v_proj": f"{layer}.{theirs}.v",
        f"{ours}.out_proj": f"{layer}.{theirs}.o",
        f"{ours}_residual.before": f"{layer}.layer_norm",
    }
