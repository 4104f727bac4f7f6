"""SigLIP (Zhai et al., 2023), and the checkpoints of its second version that read pictures of one size: they have the
same model type. Texts are read at their last slot, and pictures are summed up by a trained query."""

from typing import Any

from clearformer.interop.config_keys import Keys
from clearformer.interop.hf.architectures import refuse_heads
from clearformer.interop.hf.clip import (
    ASIDE,
    front_of,
    picture_names,
    sizes,
    text_names,
    text_sizes,
    written_pictures,
    written_texts,
)
from clearformer.interop.renaming import RenamingTable, Rule, pairs
from clearformer.model.config import HeadConfig, ModelConfig
from clearformer.model.pair_families import siglip, siglip_pictures, siglip_texts

MODEL_TYPES = ("siglip",)
PREFIX = ""
PROCESSOR = "Siglip"


def read_config(keys: Keys) -> ModelConfig:
    """From a published config.json."""
    refuse_heads(keys, "states")
    keys.number("initializer_factor")
    texts, pictures = (
        keys.part(f"{half}_config", f"siglip_{half}_model", keys.table(f"{half}_config") or {})
        for half in ("text", "vision")
    )
    pictures.must("vision_use_head", True)
    read = sizes(texts)
    width = texts.optional_size("projection_size") or read["dim"]
    config = siglip(
        texts=siglip_texts(
            **read, **text_sizes(texts), head=HeadConfig(kind="vector", pool="slot", width=width, bias=True)
        ),
        pictures=siglip_pictures(**sizes(pictures), front=front_of(pictures, class_token=False)),
    )
    keys.finish()
    return config


def write_config(config: ModelConfig) -> dict[str, Any]:
    """To a config.json that the library opens."""
    texts, pictures = config.of_texts, config.of_pictures
    return {
        "model_type": "siglip",
        "text_config": written_texts(texts)
        | {"model_type": "siglip_text_model", "projection_size": texts.vector_width},
        "vision_config": written_pictures(pictures) | {"model_type": "siglip_vision_model"},
    }


def names(config: ModelConfig) -> RenamingTable:
    """Our names and theirs. Their pooling attention keeps queries, keys and values in one matrix."""
    ours, theirs = "pictures.head.pool", "vision_model.head"
    joined = [
        Rule(tuple(f"{ours}.attn.{part}_proj.{kind}" for part in "qkv"), f"{theirs}.attention.in_proj_{kind}")
        for kind in ("weight", "bias")
    ]
    rest = {
        f"{ours}.query": f"{theirs}.probe",
        f"{ours}.attn.out_proj": f"{theirs}.attention.out_proj",
        f"{ours}.ffn_residual.before": f"{theirs}.layernorm",
        f"{ours}.ffn.up_proj": f"{theirs}.mlp.fc1",
        f"{ours}.ffn.down_proj": f"{theirs}.mlp.fc2",
        "texts.head.project": "text_model.head",
    }
    return RenamingTable(
        [
            *text_names("encoder"),
            *picture_names(config),
            *joined,
            *pairs(rest),
            Rule("scale", "logit_scale", shape=(1,)),
            Rule("bias", "logit_bias", shape=(1,)),
        ],
        aside=ASIDE,
    )
