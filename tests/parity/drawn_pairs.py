"""Random configurations of the pairs of a network of texts and one of pictures, as in `drawn`."""

import random
from collections.abc import Callable
from typing import Any

import transformers as hf

from interop.references import VOCAB
from parity.drawn import ACTIVATIONS, Drawn, made

LIMIT, END = 16, VOCAB - 2


def half(chance: random.Random) -> dict[str, Any]:
    """Uneven widths and few layers."""
    heads = chance.choice([1, 2, 3])
    return {
        "hidden_size": heads * chance.choice([4, 6]), "num_attention_heads": heads,
        "num_hidden_layers": chance.choice([1, 2, 3]), "intermediate_size": chance.choice([7, 12]),
        "layer_norm_eps": chance.choice([1e-6, 1e-5, 0.1]), "hidden_act": chance.choice([*ACTIVATIONS, "quick_gelu"]),
    }  # fmt: skip


def texts(chance: random.Random) -> dict[str, Any]:
    return half(chance) | {"vocab_size": VOCAB, "max_position_embeddings": LIMIT, "pad_token_id": 1}


def pictures(chance: random.Random) -> dict[str, Any]:
    patch = chance.choice([2, 3, 4])
    return half(chance) | {
        "image_size": patch * chance.choice([2, 3]), "patch_size": patch, "num_channels": chance.choice([1, 3]),
    }  # fmt: skip


def clip(chance: random.Random) -> Drawn:
    read = texts(chance) | {"eos_token_id": chance.choice([2, END, END])}
    return "CLIPModel", hf.CLIPConfig(
        text_config=read, vision_config=pictures(chance), projection_dim=chance.choice([5, 8])
    )


def siglip(chance: random.Random) -> Drawn:
    seen = pictures(chance)
    read = texts(chance) | {"projection_size": seen["hidden_size"]}
    if chance.random() < 0.3:
        read |= {key: seen[key] for key in ("hidden_size", "num_attention_heads")} | {"projection_size": None}
    return "SiglipModel", hf.SiglipConfig(text_config=read, vision_config=seen)


FAMILIES: dict[str, Callable[[random.Random], Drawn]] = {one.__name__: one for one in (clip, siglip)}


def drawn(family: str, number: int) -> Any:
    """A model of theirs by its number: the same one every time, with no weight at its default."""
    return made(FAMILIES[family], f"{family} {number}", number)
