"""ViT (Dosovitskiy et al., 2021): pictures divided into patches, read by a pre-norm encoder."""

from typing import Any

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.architectures import refuse_heads, task_head
from clearformer.interop.hf.bert import ACTIVATIONS, prefixed
from clearformer.interop.renaming import RenamingTable, Rule, pairs, under
from clearformer.model.config import (
    DropoutConfig,
    EmbeddingConfig,
    FrontConfig,
    HeadConfig,
    ModelConfig,
    NormConfig,
)
from clearformer.model.families import vit

MODEL_TYPES = ("vit",)
PREFIX = "vit."

LAYER = pairs(
    {
        "self_attn.q_proj": "attention.attention.query",
        "self_attn.k_proj": "attention.attention.key",
        "self_attn.v_proj": "attention.attention.value",
        "self_attn.out_proj": "attention.output.dense",
        "self_attn_residual.before": "layernorm_before",
        "ffn.up_proj": "intermediate.dense",
        "ffn.down_proj": "output.dense",
        "ffn_residual.before": "layernorm_after",
    }
)


def read_config(keys: Keys) -> ModelConfig:
    """From a published config.json."""
    keys.must("qkv_bias", True)
    keys.must("pooler_act", "tanh")
    keys.ignore("encoder_stride", "chunk_size_feed_forward", "is_encoder_decoder")
    dim, drop = keys.size("hidden_size"), keys.rate("hidden_dropout_prob")
    keys.must("pooler_output_size", dim)
    picture, patch = keys.size("image_size"), keys.size("patch_size")
    config = vit(
        dim=dim,
        hidden_dim=keys.size("intermediate_size"),
        layers=keys.layers("num_hidden_layers"),
        heads=keys.size("num_attention_heads"),
        norm=NormConfig(place="pre", eps=keys.not_negative("layer_norm_eps")),
        activation=keys.choice("hidden_act", ACTIVATIONS),
        dropout=DropoutConfig(embedding=drop, residual=drop, attention=keys.rate("attention_probs_dropout_prob")),
        front=FrontConfig(kind="patches", picture=picture, patch=patch, channels=keys.size("num_channels")),
        embedding=EmbeddingConfig(),
        head=_head(keys),
        init_std=keys.not_negative("initializer_range"),
    )
    if picture % patch:
        raise ValueError(f"{keys.where}: pictures of {picture}×{picture} do not divide into patches of {patch}×{patch}")
    keys.finish()
    return config


def write_config(config: ModelConfig) -> dict[str, Any]:
    """To a config.json that the library opens."""
    spelt = {ours: theirs for theirs, ours in reversed(ACTIVATIONS.items())}
    return {
        "model_type": "vit",
        "hidden_size": config.dim,
        "intermediate_size": config.hidden_dim,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.attention.heads,
        "layer_norm_eps": config.norm.eps,
        "hidden_act": spelt[config.activation],
        "hidden_dropout_prob": config.dropout.residual,
        "attention_probs_dropout_prob": config.dropout.attention,
        "image_size": config.front.picture,
        "patch_size": config.front.patch,
        "num_channels": config.front.channels,
        "qkv_bias": True,
        "pooler_output_size": config.dim,
        "pooler_act": "tanh",
        "initializer_range": config.init_std or 0.02,
    }


def names(config: ModelConfig) -> RenamingTable:
    """Our names and theirs."""
    front, dim = config.front, config.dim
    kernel = (dim, front.channels, front.patch, front.patch)
    places = (1, (front.picture // front.patch) ** 2 + 1, dim)
    body = [
        Rule("encoder.front.class_token", "embeddings.cls_token"),
        Rule("encoder.front.position.table.weight", "embeddings.position_embeddings", shape=places),
        Rule("encoder.front.patch_proj.weight", "embeddings.patch_embeddings.projection.weight", shape=kernel),
        Rule("encoder.front.patch_proj.bias", "embeddings.patch_embeddings.projection.bias"),
        *under("encoder.layers.*", "encoder.layer.*", LAYER),
        Rule("encoder.norm", "layernorm"),
        Rule("head.pooler", "pooler.dense"),
    ]
    prefix = "" if config.head.kind == "states" else PREFIX
    unused = {} if config.head.pooler else {"*pooler.dense.*": "a pooler that this head does not use"}
    return RenamingTable([*prefixed(prefix, body), Rule("head.classify", "classifier")], aside=unused)


def _head(keys: Keys) -> HeadConfig:
    kind = refuse_heads(keys, "class", "states")
    if kind == "states":
        return HeadConfig(kind="states", pooler=keys.has("pooler.dense.weight"))
    return task_head(keys, kind)
