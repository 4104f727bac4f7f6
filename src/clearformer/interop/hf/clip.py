"""CLIP (Radford et al., 2021): a network of texts and one of pictures, each with a table of its own in config.json.

SigLIP shares the halves' sizes and the names of their layers, which are defined here.
"""

from collections.abc import Mapping
from typing import Any

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.architectures import refuse_heads
from clearformer.interop.hf.bert import ACTIVATIONS
from clearformer.interop.hf.pair_defaults import HALF_DEFAULTS
from clearformer.interop.renaming import RenamingTable, Rule, pairs, under
from clearformer.model.config import DropoutConfig, FrontConfig, HeadConfig, ModelConfig, NormConfig
from clearformer.model.pair_families import clip, clip_pictures, clip_texts

MODEL_TYPES = ("clip",)
PREFIX = ""
PROCESSOR = "CLIP"
OLD_END = 2  # what the first files say of the token that ends a text; it is found as the highest one, then

LAYER = pairs(
    {
        **{f"self_attn.{part}_proj": f"self_attn.{part}_proj" for part in ("q", "k", "v", "out")},
        "self_attn_residual.before": "layer_norm1",
        "ffn.up_proj": "mlp.fc1",
        "ffn.down_proj": "mlp.fc2",
        "ffn_residual.before": "layer_norm2",
    }
)
ASIDE = {"*embeddings.position_ids": "the numbers 0, 1, 2, …"}


def read_config(keys: Keys) -> ModelConfig:
    """From a published config.json."""
    refuse_heads(keys, "states")
    keys.number("logit_scale_init_value")  # where training began; the weights have the number itself
    keys.number("initializer_factor")
    width = keys.size("projection_dim")
    texts, pictures = (
        keys.part(f"{half}_config", f"clip_{half}_model", _laid_over(keys, half)) for half in ("text", "vision")
    )
    for half in (texts, pictures):
        half.ignore("projection_dim", "initializer_factor")  # the one beside the halves decides
    end = texts.size("eos_token_id")
    read = clip(
        texts=clip_texts(
            **sizes(texts), **text_sizes(texts),
            head=HeadConfig(kind="vector", pool="end", end=None if end == OLD_END else end, width=width),
        ),
        pictures=clip_pictures(
            **sizes(pictures), front=front_of(pictures, patch_bias=False, norm=True),
            head=HeadConfig(kind="vector", width=width),
        ),
    )  # fmt: skip
    keys.finish()
    return read


def sizes(keys: Keys) -> dict[str, Any]:
    """What both halves of CLIP and SigLIP say."""
    rate = keys.rate("attention_dropout")
    return {
        "dim": keys.size("hidden_size"),
        "hidden_dim": keys.size("intermediate_size"),
        "layers": keys.layers("num_hidden_layers"),
        "heads": keys.size("num_attention_heads"),
        "norm": NormConfig(place="pre", eps=keys.not_negative("layer_norm_eps")),
        "activation": keys.choice("hidden_act", ACTIVATIONS),
        "dropout": DropoutConfig(embedding=0.0, residual=0.0, attention=rate),
    }


def text_sizes(keys: Keys) -> dict[str, Any]:
    """What the half that reads texts says besides."""
    return {"vocab_size": keys.size("vocab_size"), "max_len": keys.size("max_position_embeddings")}


def front_of(keys: Keys, **choices: Any) -> FrontConfig:
    """How pictures are divided."""
    picture, patch = keys.size("image_size"), keys.size("patch_size")
    if picture % patch:
        raise ValueError(f"{keys.where}: pictures of {picture}×{picture} do not divide into patches of {patch}×{patch}")
    return FrontConfig(kind="patches", picture=picture, patch=patch, channels=keys.size("num_channels"), **choices)


def write_config(config: ModelConfig) -> dict[str, Any]:
    """To a config.json that the library opens."""
    texts, pictures, width = config.of_texts, config.of_pictures, config.of_texts.vector_width
    end = OLD_END if texts.head.end is None else texts.head.end
    return {
        "model_type": "clip",
        "projection_dim": width,
        "text_config": written_texts(texts) | {"model_type": "clip_text_model", "eos_token_id": end}
        | {"projection_dim": width},
        "vision_config": written_pictures(pictures) | {"model_type": "clip_vision_model", "projection_dim": width},
    }  # fmt: skip


def written_texts(config: ModelConfig) -> dict[str, Any]:
    """The inverse of `sizes` and `text_sizes`."""
    return _written(config) | {"vocab_size": config.vocab_size, "max_position_embeddings": config.max_len}


def written_pictures(config: ModelConfig) -> dict[str, Any]:
    """The inverse of `sizes` and `front_of`."""
    seen = config.front
    return _written(config) | {
        "image_size": seen.picture, "patch_size": seen.patch, "num_channels": seen.channels,
    }  # fmt: skip


def names(config: ModelConfig) -> RenamingTable:
    """Our names and theirs."""
    dim = config.of_pictures.dim
    vision = "vision_model.embeddings"
    return RenamingTable(
        [
            *text_names("decoder"),
            *picture_names(config),
            Rule("pictures.encoder.front.class_token", f"{vision}.class_embedding", shape=(dim,)),
            Rule("pictures.encoder.front.norm", "vision_model.pre_layrnorm"),
            Rule("texts.head.project", "text_projection"),
            Rule("pictures.head.project", "visual_projection"),
            Rule("scale", "logit_scale", shape=()),
        ],
        aside=ASIDE,
    )


def text_names(stack: str) -> list[Rule]:
    """The names of the half that reads texts, apart from its head. stack: ours."""
    ends = {
        f"texts.{stack}.front.embed": "text_model.embeddings.token_embedding",
        f"texts.{stack}.front.position.table": "text_model.embeddings.position_embedding",
        f"texts.{stack}.norm": "text_model.final_layer_norm",
    }
    return [*pairs(ends), *under(f"texts.{stack}.layers.*", "text_model.encoder.layers.*", LAYER)]


def picture_names(config: ModelConfig) -> list[Rule]:
    """The names of the half that reads pictures, apart from its head and its class token."""
    seen, dim = config.of_pictures.front, config.of_pictures.dim
    ours, theirs = "pictures.encoder.front", "vision_model.embeddings"
    kernel = (dim, seen.channels, seen.patch, seen.patch)
    return [
        Rule(f"{ours}.patch_proj.weight", f"{theirs}.patch_embedding.weight", shape=kernel),
        Rule(f"{ours}.patch_proj.bias", f"{theirs}.patch_embedding.bias"),
        Rule(f"{ours}.position.table", f"{theirs}.position_embedding"),
        Rule("pictures.encoder.norm", "vision_model.post_layernorm"),
        *under("pictures.encoder.layers.*", "vision_model.encoder.layers.*", LAYER),
    ]


def _laid_over(keys: Keys, half: str) -> Mapping[str, Any]:
    """A half's table. Old files say it twice, and then the second one counts, with every default that it leaves out."""
    first, second = keys.table(f"{half}_config") or {}, keys.table(f"{half}_config_dict")
    return first if second is None else {**first, **HALF_DEFAULTS[f"clip_{half}_model"], **second}


def _written(config: ModelConfig) -> dict[str, Any]:
    spelt = {ours: theirs for theirs, ours in reversed(ACTIVATIONS.items())}
    return {
        "hidden_size": config.dim,
        "intermediate_size": config.hidden_dim,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.attention.heads,
        "layer_norm_eps": config.norm.eps,
        "hidden_act": spelt[config.activation],
        "attention_dropout": config.dropout.attention,
    }
