"""T5 (Raffel et al., 2020): 1.0 with ReLU and one shared table, 1.1 gated and with its own output table; and UMT5
(Chung et al., 2023), whose layers have each its own biases of distance."""

from dataclasses import replace
from typing import Any

from clearformer.interop.config_keys import MOST_LAYERS, Keys, shown
from clearformer.interop.hf.architectures import refuse_heads
from clearformer.interop.hf.bert import ACTIVATIONS
from clearformer.interop.renaming import RenamingTable, Rule, pairs, under
from clearformer.model.config import (
    Activation,
    AttentionConfig,
    DropoutConfig,
    EmbeddingConfig,
    HeadConfig,
    ModelConfig,
    NormConfig,
    PositionConfig,
)
from clearformer.model.families import t5

MODEL_TYPES = ("t5", "mt5", "umt5")

# How `feed_forward_proj` is spelt for what we have: an activation, and whether it is gated.
PROJECTIONS = {
    ("relu", False): "relu",
    ("gelu", False): "gelu",
    ("silu", False): "silu",
    ("relu", True): "gated-relu",
    ("silu", True): "gated-silu",
    ("gelu-tanh", True): "gated-gelu",  # an old mistake that became the rule
}


def read_config(keys: Keys) -> ModelConfig:
    """From a published config.json."""
    refuse_heads(keys, "language-model", "states")
    keys.must("is_encoder_decoder", True)
    keys.must("is_decoder", False)
    keys.must("add_cross_attention", False)
    keys.ignore("n_positions", "classifier_dropout", "chunk_size_feed_forward")
    activation, gated = _feed_forward(keys)
    shrink = _shrinks(keys)
    own = not shrink and keys.has("lm_head.weight")
    config = t5(
        vocab_size=keys.size("vocab_size"),
        dim=keys.size("d_model", "hidden_size"),
        hidden_dim=keys.size("d_ff"),
        layers=keys.layers("num_layers", "num_hidden_layers"),
        decoder_layers=keys.optional_size("num_decoder_layers", MOST_LAYERS),
        attention=AttentionConfig(
            heads=keys.size("num_heads", "num_attention_heads"),
            head_dim=keys.size("d_kv", "head_dim"),
            bias=False,
            scale=1.0,
        ),
        position=PositionConfig(
            kind="buckets",
            buckets=keys.size("relative_attention_num_buckets"),
            max_distance=keys.size("relative_attention_max_distance"),
            each=keys.model_type == "umt5",
        ),
        norm=NormConfig(kind="rms", place="pre", eps=keys.not_negative("layer_norm_epsilon")),
        activation=activation,
        gated=gated,
        dropout=DropoutConfig.everywhere(keys.rate("dropout_rate")),
        embedding=EmbeddingConfig(tie="inputs" if own else "all"),
        head=HeadConfig(shrink=shrink),
    )
    keys.finish()
    return replace(config, family="umt5") if config.position.each else config


def _feed_forward(keys: Keys) -> tuple[Activation, bool]:
    """The activation, and whether it is gated: `feed_forward_proj` says both, and newer files also have a key for each.

    Where they differ, the published code takes the separate keys.
    """
    named = keys.text("feed_forward_proj")
    first, _, last = named.partition("-")
    if last and first != "gated":
        raise ValueError(
            f"{keys.where}: feed_forward_proj must be an activation or gated-activation, not {shown(named)}"
        )
    word = "gelu_new" if named == "gated-gelu" else last or first
    word = keys.text("dense_act_fn") if "dense_act_fn" in keys.plain else word
    gated = keys.flag("is_gated_act") if "is_gated_act" in keys.plain else bool(last)
    if word not in ACTIVATIONS:
        raise ValueError(f"{keys.where}: the activation {shown(word)} is not known; known are {', '.join(ACTIVATIONS)}")
    return ACTIVATIONS[word], gated


def _shrinks(keys: Keys) -> bool:
    """Whether states are divided by √dim before the table: T5 1.0 does, T5 1.1 and mT5 do not.

    Files from before `scale_decoder_outputs` mark version 1.1 by tie_word_embeddings = false, and newer ones always say
    true there, whether or not lm_head is a separate table.
    """
    keys.ignore("tie_word_embeddings", "scale_decoder_outputs")
    if keys.model_type == "mt5":
        return False
    if keys.model_type == "umt5":
        if keys.plain.get("tie_word_embeddings") is False:
            raise ValueError(
                f"{keys.where}: tie_word_embeddings is false, and releases of the published program disagree about the "
                "scale of such a UMT5's output; only true is supported"
            )
        return True
    if "scale_decoder_outputs" in keys.plain:
        return keys.flag("scale_decoder_outputs")
    return keys.plain.get("tie_word_embeddings") is not False


def write_config(config: ModelConfig) -> dict[str, Any]:
    """To a config.json that the library opens."""
    return {
        "model_type": "umt5" if config.position.each else "t5",
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
        "feed_forward_proj": PROJECTIONS[config.activation, config.gated],
        "dropout_rate": config.dropout.residual,
        "tie_word_embeddings": config.head.shrink,
        "is_encoder_decoder": True,
    }


def names(config: ModelConfig) -> RenamingTable:
    """Our names and theirs. All layers share the position bias of layer 0."""
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
        having = "*" if config.position.each else "0"
        positions = f"{stack}.block.{having}.layer.0.SelfAttention.relative_attention_bias"
        rules += [Rule(f"{stack}.layers.{having}.self_attn.position.table", positions)]
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
