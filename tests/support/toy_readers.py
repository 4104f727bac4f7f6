"""Small random models that only read: every kind of encoder that the fast engine can express, and every head."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from clearformer.folder import bundle
from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import Preprocessing
from clearformer.model import families
from clearformer.model.build import build
from clearformer.model.config import (
    AttentionConfig,
    EmbeddingConfig,
    HeadConfig,
    ModelConfig,
    NormConfig,
    PositionConfig,
)
from support.toy_models import vocabulary

TOKENIZER = vocabulary()
SIZES = {"vocab_size": TOKENIZER.vocab_size, "dim": 32, "hidden_dim": 48, "layers": 2, "heads": 4, "init_std": 0.3}
LABELS = ("good", "bad", "neither")
TAGS = ("O", "B-X", "I-X")


def bert(**changes: Any) -> ModelConfig:
    return families.bert(**{**SIZES, "max_len": 64, **changes})


def at(kind: Any, **more: Any) -> PositionConfig:
    return PositionConfig(kind=kind, **more)


ENCODERS = {
    "bert": bert(),
    "roberta": families.roberta(**SIZES, max_len=64),
    "distilbert": families.distilbert(**{**SIZES, "layers": 3}),
    "roformer": families.roformer(**SIZES, max_len=64),
    "pre-norm": bert(norm=NormConfig(place="pre")),
    "pre-norm without the last": bert(norm=NormConfig(place="pre", final=False)),
    "rms, gated, without biases": bert(
        norm=NormConfig(kind="rms", place="pre", eps=1e-6),
        activation="silu",
        gated=True,
        bias=False,
        attention=AttentionConfig(heads=4, bias=False),
    ),
    "scaled, with types": bert(embedding=EmbeddingConfig(types=3, scale=True)),
    "waves, no types": bert(position=at("sinusoidal"), embedding=EmbeddingConfig(scale=True)),
    "no places": bert(position=at("none")),
    "buckets": bert(position=at("buckets")),
    "rotary in halves": bert(position=at("rotary")),
    "one layer at every place": bert(share_layers=True),
    "grouped queries": bert(kv_heads=2),
    "wide heads": bert(head_dim=16),
}
HEADS = {
    "class": HeadConfig(kind="class", labels=3),
    "class with a pooler": HeadConfig(kind="class", labels=3, pooler=True),
    "class with DistilBERT's pooler": HeadConfig(kind="class", labels=3, pooler=True, pooler_activation="relu"),
    "class, gelu, without a bias": HeadConfig(
        kind="class", labels=3, pooler=True, pooler_activation="gelu", class_bias=False
    ),
    "class, silu": HeadConfig(kind="class", labels=3, pooler=True, pooler_activation="silu"),
    "class, gelu by tanh": HeadConfig(kind="class", labels=3, pooler=True, pooler_activation="gelu-tanh"),
    "class of the mean": HeadConfig(kind="class", labels=3, pool="mean"),
    "class of the last": HeadConfig(kind="class", labels=3, pool="last"),
    "tags": HeadConfig(kind="tags", labels=3),
    "span": HeadConfig(kind="span"),
    "states": HeadConfig(kind="states", pooler=True),
}


def reader(config: ModelConfig | None = None, head: HeadConfig | None = None, **provenance: Any) -> Bundle:
    """A random model with biases that count."""
    torch.manual_seed(5)
    config = replace(config or bert(), head=head or HeadConfig(kind="states"))
    model = build(config)
    for name, weight in model.named_parameters():
        if name.endswith("bias"):
            weight.data.normal_(0, 0.3)
    labels = {"class": LABELS, "tags": TAGS}.get(config.head.kind, ())
    read = Preprocessing(tokenizer=TOKENIZER, labels=labels)
    return Bundle(config=config, model=model.eval(), preprocessing=read, provenance=provenance)


def saved(folder: Path, config: ModelConfig | None = None, head: HeadConfig | None = None, **provenance: Any) -> Bundle:
    """The same, written to a folder."""
    made = reader(config, head, **provenance)
    bundle.save(made, folder)
    return made
