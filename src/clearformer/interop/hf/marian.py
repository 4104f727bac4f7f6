"""Marian (Junczys-Dowmunt et al., 2018), the family of the OPUS-MT translators, and Pegasus (Zhang et al., 2020), which
has the same parts with the norms in front.

It is the 2017 model with sines in the first half of the features and cosines in the second. A model where they
alternate is the same model with its features in another order, so `as_marian` can convert it without changing any
result.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.bart import PREFIX, STACKS, shared, sizes, stacks, tied, written
from clearformer.interop.renaming import RenamingTable, Rule
from clearformer.model.config import EmbeddingConfig, ModelConfig, NormConfig, PositionConfig
from clearformer.model.families import marian
from clearformer.model.positions import SplitSinusoidal

MODEL_TYPES = ("marian", "pegasus")


def read_config(keys: Keys) -> ModelConfig:
    """From a published config.json."""
    before = keys.model_type == "pegasus"
    for key, value in (("normalize_before", before), ("normalize_embedding", False), ("add_final_layer_norm", before)):
        keys.must(key, value)
    keys.must("static_position_embeddings", True)
    keys.ignore("classif_dropout", "classifier_dropout", "extra_pos_embeddings")
    own = keys.plain.get("share_encoder_decoder_embeddings") is False
    keys.ignore("share_encoder_decoder_embeddings")
    given, length = sizes(keys), keys.size("max_position_embeddings")
    keys.shape("embed_positions.weight", length, given["dim"])
    target = keys.optional_size("decoder_vocab_size")
    config = marian(
        **given,
        target_vocab_size=target if own else None,
        max_len=length,
        position=PositionConfig(kind="split-sinusoidal"),
        norm=NormConfig(place="pre" if before else "post"),
        embedding=EmbeddingConfig(scale=keys.flag("scale_embedding"), tie="output" if own else "all"),
    )
    keys.finish()
    return config


def write_config(config: ModelConfig) -> dict[str, Any]:
    """To a config.json that the library opens."""
    own = config.embedding.tie == "output"
    if config.norm.place == "pre":
        if own:
            raise ValueError("Pegasus has one table for both sides, and this model has two")
        return {"model_type": "pegasus", "static_position_embeddings": True, **written(config)}
    return {
        "model_type": "marian",
        "share_encoder_decoder_embeddings": not own,
        "decoder_vocab_size": config.target_vocab_size or config.vocab_size,
        "static_position_embeddings": True,
        **written(config),
    }


def names(config: ModelConfig) -> RenamingTable:
    """Our names and theirs."""
    own = config.embedding.tie == "output"
    prefix = PREFIX if config.head.bias else ""
    embeds = [
        Rule("encoder.front.embed", f"{prefix}encoder.embed_tokens"),
        Rule("decoder.front.embed", f"{prefix}decoder.embed_tokens"),
        Rule("head.bias", "final_logits_bias", shape=(1, config.target_vocab_size or config.vocab_size)),
    ]
    norms = [Rule(f"{stack}.norm", f"{prefix}{stack}.layer_norm") for stack in STACKS]
    tables = [
        f"{prefix}{stack}.embed_positions.weight" for stack in STACKS
    ]  # Marian's code fills them, Pegasus' does not
    return RenamingTable(
        [*norms, *stacks(prefix, config.norm.place), *(embeds if own else shared(config, prefix))],
        copies={"lm_head.weight": f"{prefix}decoder.embed_tokens.weight"} if own else tied(prefix),
        fixed=dict.fromkeys(tables, split_waves),
        made=dict.fromkeys(tables, (config.max_len, config.dim)) if config.norm.place == "pre" else {},
    )


def as_marian(config: ModelConfig, weights: Mapping[str, Tensor]) -> tuple[ModelConfig, dict[str, Tensor]]:
    """A 2017 Transformer as Marian has it: its features reordered, and a bias of zeros on the output.

    Every projection into or out of the model's width is reordered in the same way, so every intermediate value is the
    old one at another index; norms and sums do not depend on the order.
    """
    changed, moved = config, dict(weights)
    if config.position.kind == "sinusoidal":
        order = torch.cat((torch.arange(0, config.dim, 2), torch.arange(1, config.dim, 2)))
        moved = {name: _reorder(name, value, order, config.dim) for name, value in moved.items()}
        changed = replace(changed, position=replace(config.position, kind="split-sinusoidal"))
    if not config.head.bias:
        moved["head.bias"] = torch.zeros(config.target_vocab_size or config.vocab_size)
        changed = replace(changed, head=replace(config.head, bias=True))
    return replace(changed, family="marian"), moved


# Which sides of a matrix have the model's width: rows of what writes into it, columns of what reads from it.
_WRITES = ("out_proj.weight", "out_proj.bias", "down_proj.weight", "down_proj.bias")


def _reorder(name: str, value: Tensor, order: Tensor, dim: int) -> Tensor:
    if name.endswith(_WRITES) or (value.dim() == 1 and ("residual" in name or "norm" in name)):
        return value[order]
    if value.dim() == 2 and value.size(1) == dim:  # tables, queries, keys, values, the first feed-forward layer
        return value[:, order]
    return value


def split_waves(shape: tuple[int, ...]) -> Tensor:
    """The sinusoidal table that some files store: positions × features, sines first."""
    return SplitSinusoidal(shape[-1]).embed(torch.arange(shape[0]))
