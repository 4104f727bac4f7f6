"""BART (Lewis et al., 2019), and mBART (Liu et al., 2020), which has the same parts in pre-norm order.

Marian and Whisper use the same layer names, so `stacks` serves all of them.
"""

from typing import Any

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.architectures import refuse_heads
from clearformer.interop.hf.bert import ACTIVATIONS
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
from clearformer.model.families import bart

MODEL_TYPES = ("bart", "mbart")
PREFIX = "model."
OFFSET = 2  # unused first rows of the position table, hard-coded in the published code


def read_config(keys: Keys) -> ModelConfig:
    """From a published config.json."""
    before = keys.model_type == "mbart"
    for key, value in (("normalize_before", before), ("add_final_layer_norm", before), ("normalize_embedding", True)):
        keys.must(key, value)
    keys.must("static_position_embeddings", False)
    keys.ignore("classif_dropout", "classifier_dropout", "force_bos_token_to_be_generated", "extra_pos_embeddings")
    config = bart(
        **sizes(keys),
        max_len=keys.size("max_position_embeddings"),
        position=PositionConfig(kind="learned", offset=OFFSET),
        norm=NormConfig(place="pre" if before else "post"),
        embedding=EmbeddingConfig(norm=True, tie="all", scale=keys.flag("scale_embedding")),
    )
    keys.finish()
    return config


def write_config(config: ModelConfig) -> dict[str, Any]:
    """To a config.json that the library opens."""
    return {"model_type": "bart" if config.norm.place == "post" else "mbart", **written(config)}


def names(config: ModelConfig) -> RenamingTable:
    """Our names and theirs."""
    prefix = (
        PREFIX if config.head.bias else ""
    )  # without the bias it is a model without a head, whose names have no prefix
    both = {"front.position.table": "embed_positions", "front.norm": "layernorm_embedding", "norm": "layer_norm"}
    ends = [Rule(f"{stack}.{ours}", f"{prefix}{stack}.{theirs}") for stack in STACKS for ours, theirs in both.items()]
    return RenamingTable(
        [*ends, *stacks(prefix, config.norm.place), *shared(config, prefix)],
        copies=tied(prefix),
    )


STACKS = ("encoder", "decoder")


def sizes(keys: Keys) -> dict[str, Any]:
    """What BART and Marian call their sizes and choices; both stacks must be equally wide."""
    keys.must("tie_word_embeddings", True)
    keys.must("is_decoder", False)
    keys.must("add_cross_attention", False)
    keys.must("is_encoder_decoder", True)
    keys.padding()
    keys.ignore("encoder_layerdrop", "decoder_layerdrop", "chunk_size_feed_forward", "add_bias_logits")
    kind = refuse_heads(keys, "language-model", "states")
    heads, wide = keys.size("encoder_attention_heads", "num_attention_heads"), keys.size("encoder_ffn_dim")
    keys.must("decoder_attention_heads", heads)
    keys.must("decoder_ffn_dim", wide)
    drop = keys.rate("dropout")
    bias = kind == "language-model" and keys.has("final_logits_bias")
    return {
        "vocab_size": keys.size("vocab_size"),
        "dim": keys.size("d_model", "hidden_size"),
        "hidden_dim": wide,
        "layers": keys.layers("encoder_layers", "num_hidden_layers"),
        "decoder_layers": keys.layers("decoder_layers"),
        "attention": AttentionConfig(heads=heads),
        "activation": keys.choice("activation_function", ACTIVATIONS),
        "dropout": DropoutConfig(
            embedding=drop,
            residual=drop,
            attention=keys.rate("attention_dropout"),
            activation=keys.rate("activation_dropout"),
        ),
        "head": HeadConfig(bias=bias),
        "init_std": keys.not_negative("init_std"),
    }


def written(config: ModelConfig) -> dict[str, Any]:
    """The keys of `sizes`, and the number of positions."""
    spelt = {ours: theirs for theirs, ours in reversed(ACTIVATIONS.items())}
    heads = config.attention.heads
    return {
        "vocab_size": config.vocab_size,
        "d_model": config.dim,
        "encoder_layers": config.layers,
        "decoder_layers": config.decoder_layers or config.layers,
        "encoder_ffn_dim": config.hidden_dim,
        "decoder_ffn_dim": config.hidden_dim,
        "encoder_attention_heads": heads,
        "decoder_attention_heads": heads,
        "num_hidden_layers": config.layers,
        "max_position_embeddings": config.max_len,
        "activation_function": spelt[config.activation],
        "dropout": config.dropout.residual,
        "attention_dropout": config.dropout.attention,
        "activation_dropout": config.dropout.activation,
        "scale_embedding": config.embedding.scale,
        "init_std": config.init_std or 0.02,
        "is_encoder_decoder": True,
    }


def stacks(prefix: str, place: str) -> list[Rule]:
    """The layers of encoder and decoder. place: pre- or post-norm."""
    slot = {"post": "after", "pre": "before"}[place]
    layer = {
        "self_attn": "self_attn",
        "cross_attn": "encoder_attn",
        "self_attn_residual": "self_attn_layer_norm",
        "cross_attn_residual": "encoder_attn_layer_norm",
        "ffn_residual": "final_layer_norm",
    }
    names = {"ffn.up_proj": "fc1", "ffn.down_proj": "fc2"}
    for ours, theirs in layer.items():
        if ours.endswith("residual"):
            names[f"{ours}.{slot}"] = theirs
        else:
            names |= {f"{ours}.{part}_proj": f"{theirs}.{part}_proj" for part in ("q", "k", "v", "out")}
    return [rule for stack in STACKS for rule in under(f"{stack}.layers.*", f"{prefix}{stack}.layers.*", pairs(names))]


def shared(config: ModelConfig, prefix: str) -> list[Rule]:
    """The shared embedding table, and the bias of each token."""
    return [
        Rule("encoder.front.embed", f"{prefix}shared"),
        Rule("head.bias", "final_logits_bias", shape=(1, config.vocab_size)),
    ]


def tied(prefix: str) -> dict[str, str]:
    """Other names under which the shared table is stored."""
    table = f"{prefix}shared.weight"
    return dict.fromkeys((f"{prefix}encoder.embed_tokens.weight", f"{prefix}decoder.embed_tokens.weight"), table) | {
        "lm_head.weight": table
    }
