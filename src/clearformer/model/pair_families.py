"""The published pairs of a network of texts and one of pictures: what each half chose, one function per half."""

from dataclasses import replace
from typing import Any

from clearformer.model.config import (
    DropoutConfig,
    EmbeddingConfig,
    FrontConfig,
    HeadConfig,
    ModelConfig,
    NormConfig,
    PairConfig,
    PositionConfig,
)
from clearformer.model.families import bert, gpt2, vit


def clip(*, texts: ModelConfig, pictures: ModelConfig) -> ModelConfig:
    """Texts that are given compete for a picture, by a softmax (Radford et al., 2021)."""
    return _pair("clip", texts, pictures, each=False)


def clip_texts(**sizes: Any) -> ModelConfig:
    """GPT-2 with quick GELU, read at the token that ends a text."""
    common: dict[str, Any] = {
        "layers": 12, "max_len": 77, "activation": "quick-gelu", "dropout": DropoutConfig.everywhere(0.0),
        "head": HeadConfig(kind="vector", pool="end", width=512),
    }  # fmt: skip
    return gpt2(**common | sizes)


def clip_pictures(**sizes: Any) -> ModelConfig:
    """A ViT with quick GELU and a norm before its first layer, no bias on its patches, read at the class token."""
    common: dict[str, Any] = {
        "norm": NormConfig(place="pre"), "activation": "quick-gelu",
        "front": FrontConfig(kind="patches", patch=32, patch_bias=False, norm=True),
        "head": HeadConfig(kind="vector", width=512),
    }  # fmt: skip
    return vit(**common | sizes)


def siglip(*, texts: ModelConfig, pictures: ModelConfig) -> ModelConfig:
    """Whether a text fits a picture is judged by a sigmoid, for each pair alone (Zhai et al., 2023)."""
    return _pair("siglip", texts, pictures, each=True)


def siglip_texts(**sizes: Any) -> ModelConfig:
    """A pre-norm encoder over rows that are filled up to one length, read at their last slot."""
    common: dict[str, Any] = {
        "max_len": 64, "position": PositionConfig(kind="learned"), "norm": NormConfig(place="pre", eps=1e-6),
        "activation": "gelu-tanh", "dropout": DropoutConfig.everywhere(0.0),
        "embedding": EmbeddingConfig(), "head": HeadConfig(kind="vector", pool="slot", width=768, bias=True),
    }  # fmt: skip
    return bert(**common | sizes)


def siglip_pictures(**sizes: Any) -> ModelConfig:
    """A ViT without a class token, summed up by one trained query."""
    common: dict[str, Any] = {
        "norm": NormConfig(place="pre", eps=1e-6), "activation": "gelu-tanh",
        "front": FrontConfig(kind="patches", class_token=False), "head": HeadConfig(kind="vector", pool="attention"),
    }  # fmt: skip
    return vit(**common | sizes)


def _pair(family: str, texts: ModelConfig, pictures: ModelConfig, *, each: bool) -> ModelConfig:
    halves = PairConfig(texts=replace(texts, family=family), pictures=replace(pictures, family=family), each=each)
    return ModelConfig(family=family, shape="pair", pair=halves)
