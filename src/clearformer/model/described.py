"""A configuration as plain data that says only what its model has: what a model folder keeps."""

from dataclasses import fields, is_dataclass
from typing import Any

from clearformer.model.config import HeadConfig, ModelConfig, PositionConfig, PositionKind

# The settings that each kind of position scheme and head has.
POSITION_SETTINGS: dict[PositionKind, tuple[str, ...]] = {
    "none": (),
    "sinusoidal": ("base", "offset"),
    "split-sinusoidal": ("base", "offset"),
    "tensor2tensor": ("base", "offset"),
    "learned": ("offset",),
    "rotary": ("base", "pairs", "scaling", "factor", "low", "high", "trained", "turned", "local_base", "absent"),
    "alibi": ("absent",),
    "buckets": ("buckets", "max_distance", "each", "absent"),
    "shaw": ("max_distance", "absent"),
    "relative": ("absent",),
    "disentangled": ("buckets", "max_distance", "sides", "projected", "normed", "added", "absent"),
    "grid": ("each", "absent"),
}
_TRANSFORM = ("transform", "transform_activation", "transform_bias")
HEAD_SETTINGS: dict[str, tuple[str, ...]] = {
    "language-model": ("bias", *_TRANSFORM, "narrow", "shrink", "copy", "cap"),
    "states": ("pooler",),
    "vector": ("pool", "end", "width", "bias"),
    "class": (
        *("labels", "pool", "pooled_norm", "taught", "pooler", "pooler_activation"),
        *(*_TRANSFORM, "class_bias", "dropout"),
    ),
    "tags": ("labels", *_TRANSFORM, "dropout"),
    "span": _TRANSFORM,
    "boxes": ("labels", "queries", "helper"),
    "masks": ("labels", "decoder", "narrowest"),
    "pixels": (),
}


def described(config: ModelConfig) -> dict[str, Any]:
    """The configuration as plain nested data, without settings that this model does not have and without None.

    A translator's description does not mention pictures. What is left out has no effect: parsed again, the
    description builds the same model.
    """
    if config.pair is not None:
        both = {name: described(getattr(config.pair, name)) for name in ("texts", "pictures")}
        return {"family": config.family, "shape": config.shape, "pair": both | {"each": config.pair.each}}
    missing = _missing(config)
    plain: dict[str, Any] = {}
    for name, value in _items(config):
        if name in missing or value is None:
            continue
        plain[name] = _describe_part(name, value, missing) if is_dataclass(value) else value
    return plain


def _describe_part(name: str, part: Any, missing: set[str]) -> dict[str, Any]:
    known: tuple[str, ...] | None = None  # None: all of them
    if isinstance(part, PositionConfig):
        known = ("kind", *POSITION_SETTINGS[part.kind])
    elif isinstance(part, HeadConfig):
        known = ("kind", *HEAD_SETTINGS[part.kind])
    return {
        setting: value
        for setting, value in _items(part)
        if value is not None and f"{name}.{setting}" not in missing and (known is None or setting in known)
    }


def _missing(c: ModelConfig) -> set[str]:
    """The settings, and whole parts, that have no effect in this model: one line per condition."""
    pictures, sound, samples = (c.front.kind == kind for kind in ("patches", "sound", "samples"))
    told = c.shape == "conditioned"
    flat = c.shape == "autoencoder" and pictures  # a picture as one row of numbers: no positions, no attention
    attentive = c.shape not in ("lstm", "convolution") and not flat
    finds = c.shape == "encoder-decoder" and c.head.kind == "boxes"
    writes = c.head.kind == "language-model" and not flat
    tokens = c.front.kind == "tokens" or writes
    ends = c.head.kind in ("class", "states", "vector")
    summed_up = pictures and c.shape == "encoder" and ends and c.position.kind != "grid"
    taught = c.head.kind == "class" and c.head.taught
    plain = taught or (c.head.kind == "class" and c.head.pooled_norm)  # a class without BERT's dense layer
    present = {
        "front.picture front.patch front.channels": pictures,
        "front.stem": pictures and not flat,
        "front.norm": samples or (pictures and not flat and not c.paints_by_convolution),
        "samples": samples,
        "front.patch_bias": pictures and not flat and c.front.stem == "patches",
        "front.class_token": pictures and not flat and not told and not c.paints_by_convolution,
        "front.teacher_token": summed_up and c.front.class_token,
        "front.registers": summed_up,
        "head.taught": summed_up and c.front.teacher_token,
        "head.pool head.pooler head.pooled_norm head.class_bias": not taught,
        "head.transform": not plain,
        "head.narrowest": c.paints_by_convolution,
        "front.stem_layers": pictures and not flat and c.front.stem == "convolution",
        "front.mels": sound,
        "head.copy": c.shape == "encoder-decoder",
        "kernel": c.shape == "convolution",
        "bottleneck": c.shape == "autoencoder",
        "layer_scale": attentive and c.norm.place == "pre",
        "share_layers": attentive or c.shape == "convolution",
        "dim attention position dropout head": not flat,
        "condition": told,
        "decoder_layers decoder_position": c.shape != "encoder" and not flat and not told,
        "vocab_size embedding": tokens,
        "target_vocab_size embedding.tie": writes,
        "embedding.early": tokens and c.embedding.dim is not None,
        "max_len": (tokens or sound) and not (samples and c.shape == "encoder"),
        "hidden_dim": attentive or flat,
        "activation": attentive or flat or (writes and c.head.transform),
        "gated bias dropout.activation experts": attentive,
        "chosen rescaled": attentive and c.experts is not None,
        "norm.place norm.final": attentive and not told,
        "norm.first": attentive and c.shape != "decoder" and c.norm.place == "pre" and not (told or c.share_layers),
        "head.transform_activation head.transform_bias": c.head.transform and not plain,
        "attention.kv_heads attention.bias attention.key_bias attention.out_bias attention.scale": attentive,
        "attention.norm attention.cap": attentive,
        "norm.bias": c.norm.kind == "layer",
        "parallel": attentive and c.shape == "decoder",
        "norm": attentive or (tokens and c.embedding.norm) or (writes and c.head.transform),
        "attention.cross": c.shape == "lstm",
        "attention.window": attentive and not finds and not told,
        "attention.wide": attentive and not finds and not told and c.attention.window is not None,
        "position.factor": c.position.scaling != "none",
        "position.low position.high position.trained": c.position.scaling == "llama3",
        "decoder_position.factor": c.decoder_position is not None and c.decoder_position.scaling != "none",
        "head.queries": finds,
        "head.end": c.head.pool == "end",
        "head.bias": c.head.kind == "language-model" or c.head.width is not None,
        "head.helper": c.shape == "encoder" and pictures,
        "head.pooler_activation": c.head.pooler and not taught,
    }
    return {name for names, there in present.items() if not there for name in names.split()}


def _items(part: Any) -> list[tuple[str, Any]]:
    return [(one.name, getattr(part, one.name)) for one in fields(part)]
