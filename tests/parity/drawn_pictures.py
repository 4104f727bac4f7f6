"""Random configurations of the families that read pictures: not those that somebody thought of, but any.

As in `drawn`, a family is a function from a generator of chance to the name of a class of theirs and its configuration.
"""

import random
from collections.abc import Callable
from typing import Any

import transformers as hf

from parity.drawn import ACTIVATIONS, Drawn, made


def sizes(chance: random.Random) -> dict[str, Any]:
    """Uneven widths, few patches, grey or colour."""
    heads = chance.choice([1, 2, 3])
    patch = chance.choice([2, 3, 4])
    return {
        "hidden_size": heads * chance.choice([4, 6]), "num_attention_heads": heads,
        "num_hidden_layers": chance.choice([1, 2, 3]), "image_size": patch * chance.choice([2, 3]),
        "patch_size": patch, "num_channels": chance.choice([1, 3]), "layer_norm_eps": chance.choice([1e-12, 1e-5, 0.1]),
        "hidden_act": chance.choice(ACTIVATIONS), "num_labels": 3,
    }  # fmt: skip


def vit(chance: random.Random) -> Drawn:
    given = sizes(chance) | {"intermediate_size": chance.choice([7, 12]), "qkv_bias": chance.random() < 0.6}
    return chance.choice(["ViTModel", "ViTForImageClassification"]), hf.ViTConfig(**given)


def deit(chance: random.Random) -> Drawn:
    given = sizes(chance) | {"intermediate_size": chance.choice([7, 12]), "qkv_bias": chance.random() < 0.6}
    kinds = ["DeiTModel", "DeiTForImageClassification", "DeiTForImageClassificationWithTeacher"]
    return chance.choice(kinds), hf.DeiTConfig(**given)


def dinov2(chance: random.Random) -> Drawn:
    return chance.choice(["Dinov2Model", "Dinov2ForImageClassification"]), hf.Dinov2Config(**_dinov2(chance))


def dinov2_with_registers(chance: random.Random) -> Drawn:
    kinds = ["Dinov2WithRegistersModel", "Dinov2WithRegistersForImageClassification"]
    given = _dinov2(chance) | {"num_register_tokens": chance.choice([1, 2, 4])}
    return chance.choice(kinds), hf.Dinov2WithRegistersConfig(**given)


def _dinov2(chance: random.Random) -> dict[str, Any]:
    given = sizes(chance) | {"mlp_ratio": chance.choice([1, 2, 3]), "use_swiglu_ffn": chance.random() < 0.5}
    given |= {"qkv_bias": chance.random() < 0.6, "layerscale_value": chance.choice([1.0, 0.1])}
    return given


def beit(chance: random.Random) -> Drawn:
    given = sizes(chance) | {"intermediate_size": chance.choice([7, 12]), "use_mean_pooling": chance.random() < 0.5}
    given |= {"layer_scale_init_value": chance.choice([0.1, 0.0, 1.0]), "use_mask_token": chance.random() < 0.5}
    if places := chance.choice(["relative_position_bias", "shared_relative_position_bias", "absolute", ""]):
        given |= {f"use_{places}{'_position_embeddings' if places == 'absolute' else ''}": True}
    return chance.choice(["BeitModel", "BeitForImageClassification"]), hf.BeitConfig(**given)


FAMILIES: dict[str, Callable[[random.Random], Drawn]] = {
    one.__name__: one for one in (vit, deit, dinov2, dinov2_with_registers, beit)
}


def drawn(family: str, number: int) -> Any:
    """A model of theirs by its number: the same one every time, with no weight at its default."""
    return made(FAMILIES[family], f"{family} {number}", number)
