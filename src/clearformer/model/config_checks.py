"""Which choices fit together: what cannot be built is refused with the field, the value and the remedy."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clearformer.model.config import ModelConfig, PositionConfig


def check_choices(config: "ModelConfig") -> None:
    """Refuse what cannot be built, with the field, the value and the remedy."""
    for name in ("dim", "hidden_dim", "layers", "max_len", "kernel", "bottleneck"):
        if getattr(config, name) < 1:
            raise ValueError(f"{name} must be at least 1, not {getattr(config, name)}")
    for name in ("decoder_layers", "target_vocab_size"):
        if getattr(config, name) is not None and getattr(config, name) < 1:
            raise ValueError(f"{name} must be at least 1, or left out, not {getattr(config, name)}")
    if config.attention.heads < 1:
        raise ValueError(f"attention.heads must be at least 1, not {config.attention.heads}")
    if config.attention.head_dim is None and config.dim % config.attention.heads:
        raise ValueError(
            f"{config.attention.heads} heads do not divide a width of {config.dim}; choose a divisor or set head_dim"
        )
    for site, rate in {**vars(config.dropout), "head": config.head.dropout}.items():
        if not 0 <= rate < 1:
            raise ValueError(f"dropout.{site} must be at least 0 and below 1, not {rate}")
    _check_positions(config)
    _check_layers(config)
    _check_pictures(config)
    if config.front.kind == "samples":
        _check_samples(config)
    _check_vocabulary(config)
    _check_head(config)


def _check_positions(config: "ModelConfig") -> None:
    """Buckets: half of a side's are exact, and the others widen from there to max_distance."""
    sees_all = ("encoder", "encoder-decoder", "conditioned")
    encoder = [(config.position, 2)] if config.shape in sees_all else []  # past and future
    decoder = (
        [(config.decoder_position or config.position, 1)] if config.shape in ("decoder", "encoder-decoder") else []
    )
    if config.position.kind == "grid" and (config.front.kind != "patches" or config.front.leading != 1):
        raise ValueError("grid positions are of a picture behind one class token, and of nothing else")
    for position, sides in [*encoder, *decoder]:
        if position.kind == "disentangled":
            _check_ranges(position)
        if position.kind != "buckets":
            continue
        if position.buckets < 2 * sides:
            raise ValueError(f"position.buckets must be at least {2 * sides} here, not {position.buckets}")
        exact = position.buckets // sides // 2
        if position.max_distance <= exact:
            raise ValueError(
                f"position.max_distance must be above {exact}, up to which {position.buckets} buckets are exact, "
                f"not {position.max_distance}"
            )


def _check_layers(config: "ModelConfig") -> None:
    """Layers that are named must be there, and what is scaled is what a normed input gives."""
    if config.experts is not None and not 1 <= config.chosen <= config.experts:
        raise ValueError(f"a token goes through at least one of {config.experts} experts, not {config.chosen}")
    if config.layer_scale is not None and config.norm.place != "pre":
        raise ValueError(f'layer_scale needs norm.place = "pre", not {config.norm.place}')
    for name, given in (("attention.wide", config.attention.wide), ("position.absent", config.position.absent)):
        if any(not 0 <= layer < max(config.layers, config.decoder_layers or 0) for layer in given):
            raise ValueError(f"{name} names a layer that this model does not have: {max(given)}")
    if config.parallel and config.shape == "decoder" and config.norm.place == "post":
        raise ValueError("parallel parts are normed before; set norm.place to pre")


def _check_pictures(config: "ModelConfig") -> None:
    front = config.front
    if front.kind != "patches":
        return
    for name in ("picture", "patch", "channels", "stem_layers"):
        if getattr(front, name) < 1:
            raise ValueError(f"front.{name} must be at least 1, not {getattr(front, name)}")
    if front.picture % front.patch:
        raise ValueError(
            f"pictures of {front.picture}×{front.picture} do not divide into patches of {front.patch}×{front.patch}"
        )
    if front.registers < 0 or (front.teacher_token and not front.class_token):
        raise ValueError("front.registers is 0 or more, and front.teacher_token stands behind a class token")
    if (front.teacher_token or front.registers) and config.head.kind not in ("class", "states", "vector"):
        raise ValueError(f"with a head for {config.head.kind}, nothing but a class token stands before the patches")
    if config.shape == "convolution" and front.leading:
        raise ValueError("convolutions mix places, and a class token has none; set front.class_token to false")
    if front.stem == "convolution" and (front.patch < 2 or front.patch & (front.patch - 1)):
        raise ValueError(f"a stem halves pictures again and again: front.patch is 2, 4, 8, 16 …, not {front.patch}")


def _check_samples(config: "ModelConfig") -> None:
    if config.dim % config.samples.place_groups:
        raise ValueError(
            f"samples.place_groups, {config.samples.place_groups}, does not divide a width of {config.dim}"
        )
    if config.position.kind in ("sinusoidal", "split-sinusoidal", "tensor2tensor", "learned"):
        raise ValueError(
            f'a convolution shows places of samples; set position.kind to "none", not {config.position.kind}'
        )


def _check_vocabulary(config: "ModelConfig") -> None:
    if (config.front.kind == "tokens" or config.scores_tokens) and config.vocab_size < 1:
        raise ValueError("vocab_size must say how many tokens there are")
    if config.shape == "decoder" and config.front.kind != "tokens":
        raise ValueError(f"a decoder alone reads tokens, not {config.front.kind}; give it an encoder")
    shared = config.embedding.tie in ("all", "inputs") and config.front.kind == "tokens"
    if shared and config.target_vocab_size not in (None, config.vocab_size):
        raise ValueError(
            f"source ({config.vocab_size} tokens) and target ({config.target_vocab_size}) cannot share one table; "
            'set embedding.tie to "output" or "none"'
        )


def _check_head(config: "ModelConfig") -> None:
    if config.head.kind in ("class", "tags", "boxes", "masks") and config.head.labels < 1:
        raise ValueError(f"a head for {config.head.kind} needs head.labels, the number of classes")
    if config.shape == "conditioned":
        _check_condition(config)
    if config.head.kind in ("masks", "pixels") and config.front.kind != "patches":
        raise ValueError(f"a head for {config.head.kind} needs pictures; set front.kind to patches")
    if config.paints_by_convolution and (config.front.stem != "convolution" or config.shape != "encoder"):
        raise ValueError('head.decoder = "convolution" reads the maps of a stem; set front.stem to convolution')
    if config.head.narrowest < 1:
        raise ValueError(f"head.narrowest must be at least 1, not {config.head.narrowest}")
    summed = config.head.kind in ("class", "vector")
    if summed and config.head.pool.endswith("patches") and config.front.kind != "patches":
        raise ValueError(f"head.pool is {config.head.pool}, but what is read is {config.front.kind}; choose another")
    if config.head.kind == "class" and config.head.taught and not config.front.teacher_token:
        raise ValueError("head.taught reads a teacher token; set front.teacher_token")
    _check_vector(config)
    if config.head.narrow and config.head.transform:
        raise ValueError("head.transform brings states to the table's width, too; leave head.narrow out")
    _check_decoder_head(config)
    _check_copying(config)
    narrow = config.embedding.dim not in (None, config.dim)
    if narrow and config.scores_tokens and not (config.head.transform or config.head.narrow):
        raise ValueError(
            f"states of width {config.dim} do not fit a table of width {config.embedding.dim}; set head.transform or "
            "head.narrow"
        )


def _check_vector(config: "ModelConfig") -> None:
    """A vector has a width, and the token that ends a text is looked for among those of a decoder."""
    if config.head.width is not None and config.head.width < 1:
        raise ValueError(f"head.width must be at least 1, or left out, not {config.head.width}")
    if config.head.kind == "vector" and config.shape not in ("encoder", "decoder"):
        raise ValueError(f"a model of shape {config.shape} has no head for a vector; use an encoder or a decoder")
    reads_end = config.head.kind in ("class", "vector") and config.head.pool == "end"
    if reads_end and (config.head.kind == "class" or config.shape != "decoder"):
        raise ValueError('head.pool = "end" is for the vector of a decoder; choose another')


def _check_copying(config: "ModelConfig") -> None:
    """What is copied has to mean the same on both sides."""
    if config.shape != "encoder-decoder" or config.head.kind != "language-model" or not config.head.copy:
        return
    if config.front.kind != "tokens":
        raise ValueError(f"a model that reads {config.front.kind} has no tokens to copy; set head.copy to false")
    if config.target_vocab_size not in (None, config.vocab_size):
        raise ValueError("head.copy needs one vocabulary for source and target; leave target_vocab_size out")


def _check_decoder_head(config: "ModelConfig") -> None:
    """An encoder–decoder writes tokens, or, from learned queries, boxes; the baselines write tokens alone."""
    if config.shape in ("encoder", "decoder", "conditioned") or config.head.kind == "language-model":
        return
    if config.shape == "convolution" and config.front.kind == "patches" and config.head.kind in ("class", "states"):
        return
    if config.shape != "encoder-decoder" or config.head.kind != "boxes":
        raise ValueError(f"a model of shape {config.shape} has no head for {config.head.kind}; use an encoder")
    if config.head.queries < 1:
        raise ValueError("an encoder–decoder that finds boxes needs head.queries, how many it can find at most")
    if config.front.kind != "patches":
        raise ValueError(f"boxes are found in pictures, not in {config.front.kind}; set front.kind to patches")
    if config.decoder_position is not None:
        raise ValueError("queries have no order, so they have no positions; leave decoder_position out")


def _check_condition(config: "ModelConfig") -> None:
    """A conditioned stack draws pictures from pictures, or scores codes."""
    if config.condition.classes < 1:
        raise ValueError(f"condition.classes must be at least 1, not {config.condition.classes}")
    wanted = {"patches": "pixels", "tokens": "language-model"}.get(config.front.kind)
    if config.head.kind != wanted:
        raise ValueError(
            f"a conditioned model draws pixels from patches, or scores tokens, but has front {config.front.kind} and "
            f"head {config.head.kind}"
        )


def _check_ranges(position: "PositionConfig") -> None:
    """Disentangled positions: half of a side's ranges are exact, and the others widen from there to max_distance."""
    if position.buckets < 0 or position.buckets == 1:
        raise ValueError(f"position.buckets must be 0, or at least 2 here, not {position.buckets}")
    least = position.buckets // 2 + 2 if position.buckets else 1
    if position.max_distance < least:
        raise ValueError(
            f"position.max_distance must be at least {least} with {position.buckets} buckets, "
            f"not {position.max_distance}"
        )
