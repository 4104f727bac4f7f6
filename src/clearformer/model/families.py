"""The published families: what each one chose, one function per paper, sizes left open.

A family is data. Whatever a function here sets can be set otherwise (a GPT-2 with rotary positions is one keyword
away), and `build.py` makes all of them from the same parts.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from clearformer.model.config import (
    AttentionConfig,
    ConditionConfig,
    DropoutConfig,
    EmbeddingConfig,
    FrontConfig,
    HeadConfig,
    ModelConfig,
    NormConfig,
    PositionConfig,
    SamplesConfig,
)


def transformer(**sizes: Any) -> ModelConfig:
    """Post-norm encoder–decoder, waves for positions, one table for everything (Vaswani et al., 2017)."""
    return _family("transformer", sizes, embedding=EmbeddingConfig(scale=True, tie="all"))


def marian(**sizes: Any) -> ModelConfig:
    """The 2017 model as in Marian: waves in halves, one bias per output token (Junczys-Dowmunt et al., 2018)."""
    return _family(
        "marian",
        sizes,
        position=PositionConfig(kind="split-sinusoidal"),
        activation="silu",
        embedding=EmbeddingConfig(scale=True, tie="all"),
        head=HeadConfig(bias=True),
    )


def bart(**sizes: Any) -> ModelConfig:
    """Post-norm encoder–decoder with learned positions, a norm on the embeddings, and GELU (Lewis et al., 2019)."""
    return _family(
        "bart",
        sizes,
        max_len=1024,
        position=PositionConfig(kind="learned", offset=2),
        activation="gelu",
        embedding=EmbeddingConfig(norm=True, tie="all"),
        head=HeadConfig(bias=True),
        init_std=0.02,
    )


def t5(**sizes: Any) -> ModelConfig:
    """Pre-norm encoder–decoder with RMS norm, bucketed position biases, no other bias, unscaled scores
    (Raffel et al., 2020)."""
    return _family(
        "t5",
        sizes,
        attention=AttentionConfig(bias=False, scale=1.0),
        position=PositionConfig(kind="buckets"),
        norm=NormConfig(kind="rms", place="pre", eps=1e-6),
        bias=False,
        dropout=DropoutConfig.everywhere(0.1),
        embedding=EmbeddingConfig(tie="all"),
        head=HeadConfig(shrink=True),
    )


def bert(**sizes: Any) -> ModelConfig:
    """Post-norm encoder with learned positions, two token types, normed embeddings and GELU (Devlin et al., 2018)."""
    return _encoder("bert", sizes, embedding=EmbeddingConfig(types=2, norm=True))


def roberta(**sizes: Any) -> ModelConfig:
    """BERT with one token type, and positions that start at 2 (Liu et al., 2019)."""
    return _encoder(
        "roberta",
        sizes,
        position=PositionConfig(kind="learned", offset=2),
        norm=NormConfig(eps=1e-5),
        embedding=EmbeddingConfig(types=1, norm=True),
    )


def distilbert(**sizes: Any) -> ModelConfig:
    """BERT with half the layers, without token types and pooler (Sanh et al., 2019)."""
    return _encoder("distilbert", sizes, layers=6, embedding=EmbeddingConfig(norm=True), head=HeadConfig(kind="states"))


def albert(**sizes: Any) -> ModelConfig:
    """BERT with one layer run many times and a narrow embedding that is widened (Lan et al., 2020)."""
    return _encoder(
        "albert",
        sizes,
        activation="gelu-tanh",
        embedding=EmbeddingConfig(dim=128, types=2, norm=True),
        share_layers=True,
    )


def roformer(**sizes: Any) -> ModelConfig:
    """BERT with rotary positions (Su et al., 2021)."""
    return _encoder(
        "roformer",
        sizes,
        position=PositionConfig(kind="rotary", pairs="neighbours"),
        embedding=EmbeddingConfig(types=2, norm=True),
    )


def modernbert(**sizes: Any) -> ModelConfig:
    """Pre-norm BERT without biases, with rotary positions, GeGLU and windows in most layers (Warner et al., 2024)."""
    return _encoder(
        "modernbert",
        sizes,
        max_len=8192,
        attention=AttentionConfig(bias=False),
        position=PositionConfig(kind="rotary", base=160_000.0, local_base=10_000.0),
        norm=NormConfig(place="pre", bias=False, first=False),
        gated=True,
        bias=False,
        dropout=DropoutConfig.everywhere(0.0),
        embedding=EmbeddingConfig(norm=True),
        head=HeadConfig(transform=True, transform_activation="gelu", transform_bias=False, bias=True),
    )


def deberta(**sizes: Any) -> ModelConfig:
    """BERT with disentangled attention: distances have vectors of their own (He et al., 2021; DeBERTa 3)."""
    return _encoder(
        "deberta",
        sizes,
        position=PositionConfig(kind="disentangled", buckets=256, max_distance=512, normed=True),
        norm=NormConfig(eps=1e-7),
        embedding=EmbeddingConfig(norm=True),
        head=HeadConfig(kind="states"),
    )


def vit(**sizes: Any) -> ModelConfig:
    """Pre-norm encoder over picture patches with learned positions and a class token (Dosovitskiy et al., 2021)."""
    return _encoder(
        "vit",
        sizes,
        norm=NormConfig(place="pre", eps=1e-12),
        front=FrontConfig(kind="patches"),
        dropout=DropoutConfig.everywhere(0.0),
        embedding=EmbeddingConfig(),
        head=HeadConfig(kind="class", labels=1000),
    )


def detr(**sizes: Any) -> ModelConfig:
    """Encoder–decoder that finds boxes in a picture with learned queries, all at once (Carion et al., 2020).

    Two differences from the paper: the encoder reads patches, not the features of a convolutional network, and the
    queries are the decoder's input, not added again in every layer.
    """
    return _family(
        "detr",
        sizes,
        dim=256,
        front=FrontConfig(kind="patches"),
        dropout=DropoutConfig.everywhere(0.1),
        head=HeadConfig(kind="boxes", labels=91, queries=100),
    )


def gpt2(**sizes: Any) -> ModelConfig:
    """Pre-norm decoder with learned positions and GELU's tanh approximation (Radford et al., 2019)."""
    return _family(
        "gpt2",
        sizes,
        shape="decoder",
        max_len=1024,
        position=PositionConfig(kind="learned"),
        norm=NormConfig(place="pre"),
        activation="gelu-tanh",
        dropout=DropoutConfig(attention=0.1),
        init_std=0.02,
    )


def llama(**sizes: Any) -> ModelConfig:
    """Pre-norm decoder with RMS norm, rotary positions, SwiGLU and no biases (Touvron et al., 2023)."""
    return _family(
        "llama",
        sizes,
        shape="decoder",
        max_len=2048,
        attention=AttentionConfig(bias=False),
        position=PositionConfig(kind="rotary"),
        norm=NormConfig(kind="rms", place="pre"),
        activation="silu",
        gated=True,
        bias=False,
        dropout=DropoutConfig.everywhere(0.0),
        embedding=EmbeddingConfig(tie="none"),
        init_std=0.02,
    )


def transformer_xl(**sizes: Any) -> ModelConfig:
    """Post-norm decoder with relative positions, which can keep a memory of the previous segment (Dai et al., 2019)."""
    return _family(
        "transformer-xl",
        sizes,
        shape="decoder",
        attention=AttentionConfig(bias=False),
        position=PositionConfig(kind="relative"),
        embedding=EmbeddingConfig(scale=True),
        init_std=0.02,
    )


def whisper(**sizes: Any) -> ModelConfig:
    """Pre-norm encoder–decoder from log-mel frames to text: waves in the encoder, a learned table in the decoder, keys
    without bias (Radford et al., 2022)."""
    return _family(
        "whisper",
        sizes,
        max_len=448,
        attention=AttentionConfig(key_bias=False),
        position=PositionConfig(kind="tensor2tensor"),
        decoder_position=PositionConfig(kind="learned"),
        norm=NormConfig(place="pre"),
        activation="gelu",
        dropout=DropoutConfig.everywhere(0.0),
        front=FrontConfig(kind="sound"),
        embedding=EmbeddingConfig(tie="output"),
        init_std=0.02,
    )


def wav2vec2(**sizes: Any) -> ModelConfig:
    """Post-norm encoder over samples, which convolutions shorten and one wide convolution tells apart by place; a label
    for each frame (Baevski et al., 2020; HuBERT: Hsu et al., 2021)."""
    return _encoder(
        "wav2vec2",
        sizes,
        position=PositionConfig(kind="none"),
        norm=NormConfig(),
        front=FrontConfig(kind="samples", norm=True),
        samples=SamplesConfig(),
        embedding=EmbeddingConfig(tie="none"),
        head=HeadConfig(bias=True),
    )


def lstm(**sizes: Any) -> ModelConfig:
    """The recurrent baseline: bidirectional LSTM encoder, LSTM decoder with additive attention (Bahdanau et al., 2015)
    and input feeding (Luong et al., 2015). attention.cross = False removes the attention (Sutskever et al., 2014).
    """
    return _family(
        "lstm",
        sizes,
        shape="lstm",
        layers=2,
        attention=AttentionConfig(heads=1),
        position=PositionConfig(kind="none"),
    )


def convolution(**sizes: Any) -> ModelConfig:
    """The convolutional baseline: gated convolutions, attention in every decoder layer (Gehring et al., 2017)."""
    return _family(
        "convolution",
        sizes,
        shape="convolution",
        attention=AttentionConfig(heads=1),
        position=PositionConfig(kind="learned"),
    )


def autoencoder(**sizes: Any) -> ModelConfig:
    """A bottleneck from which the input is reconstructed: tokens, or, with front.kind = "patches", pictures.

    Gated, because word and position have to be multiplied before positions can be averaged into one code.
    """
    return _family(
        "autoencoder",
        sizes,
        shape="autoencoder",
        layers=2,
        activation="silu",
        gated=True,
        embedding=EmbeddingConfig(scale=True),
    )


def dit(**sizes: Any) -> ModelConfig:
    """Pre-norm stack over noisy patches, whose norms are told the class and the time (Peebles and Xie, 2023).

    Two differences from the paper: one projection of what is told serves all layers (as in PixArt-α; Chen et al.,
    2024), and positions are learned. What it draws is the clean picture, not the noise (Li and He, 2025).
    """
    return _family(
        "dit",
        sizes,
        shape="conditioned",
        dim=384,
        hidden_dim=1536,
        layers=12,
        position=PositionConfig(kind="learned"),
        norm=NormConfig(place="pre", eps=1e-6),
        activation="gelu-tanh",
        front=FrontConfig(kind="patches", class_token=False),
        dropout=DropoutConfig.everywhere(0.0),
        embedding=EmbeddingConfig(tie="none"),
        head=HeadConfig(kind="pixels"),
        condition=ConditionConfig(classes=1000),
    )


FAMILIES: dict[str, Callable[..., ModelConfig]] = {
    "transformer": transformer,
    "marian": marian,
    "bart": bart,
    "t5": t5,
    "bert": bert,
    "roberta": roberta,
    "distilbert": distilbert,
    "albert": albert,
    "roformer": roformer,
    "modernbert": modernbert,
    "deberta": deberta,
    "vit": vit,
    "detr": detr,
    "gpt2": gpt2,
    "llama": llama,
    "transformer-xl": transformer_xl,
    "whisper": whisper,
    "wav2vec2": wav2vec2,
    "lstm": lstm,
    "convolution": convolution,
    "autoencoder": autoencoder,
    "dit": dit,
}


def _encoder(name: str, sizes: dict[str, Any], **choices: Any) -> ModelConfig:
    """What BERT and its relatives have in common."""
    common: dict[str, Any] = {
        "shape": "encoder",
        "dim": 768,
        "hidden_dim": 3072,
        "layers": 12,
        "heads": 12,
        "position": PositionConfig(kind="learned"),
        "norm": NormConfig(eps=1e-12),
        "activation": "gelu",
        "dropout": DropoutConfig(attention=0.1),
        "head": HeadConfig(kind="states", pooler=True),
        "init_std": 0.02,
    }
    return _family(name, sizes, **common | choices)


def _family(name: str, sizes: dict[str, Any], **choices: Any) -> ModelConfig:
    """A family's choices with the caller's sizes laid over them. `heads` and `kv_heads` may be given flat."""
    values = choices | sizes
    flat = {key: values.pop(key) for key in ("heads", "kv_heads", "head_dim") if key in values}
    values["attention"] = replace(values.get("attention", AttentionConfig()), **flat)
    return ModelConfig(family=name, **values)
