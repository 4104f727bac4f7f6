"""ViT (Dosovitskiy et al., 2021): pictures divided into patches, read by a pre-norm encoder.

Its relatives (DeiT, DINOv2, BEiT) share the sizes, the front end and most of the layer's names that are defined here.
"""

from collections.abc import Iterable
from typing import Any

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.architectures import refuse_heads, task_head
from clearformer.interop.hf.bert import ACTIVATIONS, prefixed
from clearformer.interop.renaming import RenamingTable, Rule, pairs, under
from clearformer.model.config import (
    AttentionConfig,
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

ATTENTION = pairs(
    {
        "self_attn.q_proj": "attention.attention.query",
        "self_attn.k_proj": "attention.attention.key",
        "self_attn.v_proj": "attention.attention.value",
        "self_attn.out_proj": "attention.output.dense",
    }
)
LAYER = [
    *ATTENTION,
    *pairs(
        {
            "self_attn_residual.before": "layernorm_before",
            "ffn.up_proj": "intermediate.dense",
            "ffn.down_proj": "output.dense",
            "ffn_residual.before": "layernorm_after",
        }
    ),
]


def read_config(keys: Keys) -> ModelConfig:
    """From a published config.json."""
    read_pooler(keys)
    config = vit(
        **sizes(keys), hidden_dim=keys.size("intermediate_size"), activation=keys.choice("hidden_act", ACTIVATIONS),
        **attention(keys), head=_head(keys),
    )  # fmt: skip
    keys.finish()
    return config


def sizes(keys: Keys) -> dict[str, Any]:
    """What all of them say: sizes, the front end, norms and dropout."""
    keys.ignore("encoder_stride", "chunk_size_feed_forward", "is_encoder_decoder")
    drop = keys.rate("hidden_dropout_prob")
    picture, patch = keys.size("image_size"), keys.size("patch_size")
    if picture % patch:
        raise ValueError(f"{keys.where}: pictures of {picture}×{picture} do not divide into patches of {patch}×{patch}")
    return {
        "dim": keys.size("hidden_size"),
        "layers": keys.layers("num_hidden_layers"),
        "norm": NormConfig(place="pre", eps=keys.not_negative("layer_norm_eps")),
        "dropout": DropoutConfig(embedding=drop, residual=drop, attention=keys.rate("attention_probs_dropout_prob")),
        "front": FrontConfig(kind="patches", picture=picture, patch=patch, channels=keys.size("num_channels")),
        "embedding": EmbeddingConfig(),
        "init_std": keys.not_negative("initializer_range"),
    }


def attention(keys: Keys) -> dict[str, Any]:
    """Queries, keys and values may be without biases; what is given back has one."""
    biased = keys.flag("qkv_bias")
    own = AttentionConfig() if biased else AttentionConfig(bias=False, out_bias=True)
    return {"heads": keys.size("num_attention_heads"), "attention": own}


def read_pooler(keys: Keys) -> None:
    """The summary of the first state, which is as wide as the states here."""
    keys.must("pooler_act", "tanh")
    keys.must("pooler_output_size", keys.size("hidden_size"))


def read_mask_token(keys: Keys) -> None:
    """The token of hidden patches changes no result, but a file that says that it is there must have it."""
    if keys.plain.get("use_mask_token", keys.defaults.get("use_mask_token")) and not keys.has("embeddings.mask_token"):
        raise ValueError(f"{keys.where}: use_mask_token is true, but the weights have no such token; set it to false")
    keys.ignore("use_mask_token")


def write_config(config: ModelConfig) -> dict[str, Any]:
    """To a config.json that the library opens."""
    return {
        "model_type": "vit",
        **written(config),
        "intermediate_size": config.hidden_dim,
        "pooler_output_size": config.dim,
        "pooler_act": "tanh",
    }


def written(config: ModelConfig) -> dict[str, Any]:
    """The inverse of `sizes`, with activation and biases."""
    spelt = {ours: theirs for theirs, ours in reversed(ACTIVATIONS.items())}
    return {
        "hidden_size": config.dim,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.attention.heads,
        "layer_norm_eps": config.norm.eps,
        "hidden_act": spelt[config.activation],
        "hidden_dropout_prob": config.dropout.residual,
        "attention_probs_dropout_prob": config.dropout.attention,
        "image_size": config.front.picture,
        "patch_size": config.front.patch,
        "num_channels": config.front.channels,
        "qkv_bias": config.attention.bias,
        "initializer_range": config.init_std or 0.02,
    }


def names(config: ModelConfig) -> RenamingTable:
    """Our names and theirs."""
    return table_of(config, PREFIX, under("encoder.layers.*", "encoder.layer.*", LAYER))


def table_of(config: ModelConfig, prefix: str, layers: Iterable[Rule]) -> RenamingTable:
    """The table of ViT or a relative. layers: the rules of the layers, with their full names."""
    body = [*front(config), *layers, Rule("encoder.norm", "layernorm"), Rule("head.pooler", "pooler.dense")]
    prefix = "" if config.head.kind == "states" else prefix
    aside = {"*embeddings.mask_token": "a token of the pretraining, in whose tasks patches were hidden"}
    if not config.head.pooler:
        aside["*pooler.dense.*"] = "a pooler that this head does not use"
    return RenamingTable([*prefixed(prefix, body), Rule("head.classify", "classifier")], aside=aside)


def front(config: ModelConfig) -> list[Rule]:
    """The names of tokens, positions and patches."""
    seen, dim = config.front, config.dim
    kernel = (dim, seen.channels, seen.patch, seen.patch)
    return [
        Rule("encoder.front.class_token", "embeddings.cls_token"),
        Rule("encoder.front.teacher_token", "embeddings.distillation_token"),
        Rule("encoder.front.registers", "embeddings.register_tokens"),
        Rule("encoder.front.position.table.weight", "embeddings.position_embeddings", shape=(1, seen.places, dim)),
        Rule("encoder.front.patch_proj.weight", "embeddings.patch_embeddings.projection.weight", shape=kernel),
        Rule("encoder.front.patch_proj.bias", "embeddings.patch_embeddings.projection.bias"),
    ]


def _head(keys: Keys) -> HeadConfig:
    kind = refuse_heads(keys, "class", "states")
    if kind == "states":
        return HeadConfig(kind="states", pooler=keys.has("pooler.dense.weight"))
    return task_head(keys, kind)
