"""Small models of every family with every position scheme, and batches for them: what tests of whole models share."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, get_args

import torch
from torch import Tensor, nn

from clearformer.model import pair_families
from clearformer.model.build import build
from clearformer.model.config import (
    AttentionConfig,
    ConditionConfig,
    EmbeddingConfig,
    FrontConfig,
    HeadConfig,
    ModelConfig,
    NormConfig,
    PositionKind,
    SamplesConfig,
)
from clearformer.model.families import FAMILIES

VOCAB, DIM, HEADS, LAYERS, MELS = 29, 32, 4, 2, 6
KINDS: tuple[str, ...] = tuple(kind for kind in get_args(PositionKind) if kind != "grid")  # which is for pictures
WRITERS = ("transformer", "marian", "bart", "t5")  # read tokens, write tokens
READERS = ("bert", "roberta", "distilbert", "albert", "roformer", "modernbert", "deberta")
SPEAKERS = ("gpt2", "llama", "transformer-xl")

SIZES: dict[str, Any] = {
    "vocab_size": VOCAB, "dim": DIM, "hidden_dim": 48, "layers": LAYERS, "heads": HEADS, "max_len": 24,
}  # fmt: skip
PECULIAR: dict[str, dict[str, Any]] = {
    "albert": {"embedding": EmbeddingConfig(dim=16, types=2, norm=True)},
    "vit": {"front": FrontConfig(kind="patches", picture=8, patch=4), "head": HeadConfig(kind="class", labels=5)},
    "detr": {
        "front": FrontConfig(kind="patches", picture=8, patch=4),
        "head": HeadConfig(kind="boxes", labels=5, queries=6),
    },
    "dit": {
        "front": FrontConfig(kind="patches", picture=8, patch=4, class_token=False),
        "condition": ConditionConfig(classes=3),
    },
    "whisper": {"front": FrontConfig(kind="sound", mels=MELS)},
    "wav2vec2": {
        "samples": SamplesConfig(widths=(6, 5), kernels=(4, 3), strides=(3, 2), place_kernel=4, place_groups=2)
    },
    "modernbert": {"attention": AttentionConfig(bias=False, window=3, wide=(0,))},
    "llama": {"kv_heads": 2},
}

_HALF: dict[str, Any] = {"dim": 16, "hidden_dim": 24, "layers": LAYERS, "heads": 2}
_SEEN = FrontConfig(kind="patches", picture=8, patch=4)
PAIRS = {
    "clip": pair_families.clip(
        texts=pair_families.clip_texts(
            **_HALF, vocab_size=VOCAB, max_len=12, head=HeadConfig(kind="vector", pool="end", width=10)
        ),
        pictures=pair_families.clip_pictures(
            **_HALF, front=replace(_SEEN, norm=True, patch_bias=False), head=HeadConfig(kind="vector", width=10)
        ),
    ),
    "siglip": pair_families.siglip(
        texts=pair_families.siglip_texts(
            **_HALF, vocab_size=VOCAB, max_len=6, head=HeadConfig(kind="vector", pool="slot", width=16, bias=True)
        ),
        pictures=pair_families.siglip_pictures(**_HALF, front=replace(_SEEN, class_token=False)),
    ),
}

# Transformers with absolute positions, plain heads and a plain feed-forward: what can be written out for speed.
PLAIN: dict[str, tuple[str, dict[str, Any]]] = {
    "2017": ("transformer", {}),
    "pre-norm": ("transformer", {"norm": NormConfig(place="pre")}),
    "rms norm": ("transformer", {"norm": NormConfig(kind="rms")}),
    "silu, bias on the output": ("marian", {}),
    "learned positions, normed embeddings": ("bart", {}),
    "no biases": ("transformer", {"attention": AttentionConfig(heads=4, bias=False), "bias": False}),
    "no key bias": ("transformer", {"attention": AttentionConfig(heads=4, key_bias=False)}),
    "scale of its own, wide heads": ("transformer", {"attention": AttentionConfig(heads=4, scale=0.7, head_dim=20)}),
    "shared layers": ("transformer", {"share_layers": True}),
}


def configured(family: str, kind: str | None = None, **choices: Any) -> ModelConfig:
    """A family at a size of thousands of parameters, with another position scheme if `kind` names one."""
    config = FAMILIES[family](**SIZES | PECULIAR.get(family, {}) | choices)
    if kind is None:
        return config
    scheme = replace(config.position, kind=kind, max_distance=min(config.position.max_distance, 6), buckets=8)
    return replace(config, position=scheme, decoder_position=None)


def specimen(family: str, kind: str | None = None, **choices: Any) -> nn.Module:
    """That model in evaluation mode, every parameter stirred: a fresh bias is zero and would hide its misuse."""
    model = build(configured(family, kind, **choices)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return model


def sentences(*lengths: int) -> list[Tensor]:
    """Random rows of tokens."""
    return [torch.randint(VOCAB, (length,)) for length in lengths]


def padded(rows: Sequence[Tensor], side: str, extra: int = 0) -> tuple[Tensor, Tensor]:
    """The rows in one batch with junk for padding: tokens B T and keep B T.

    side: "left", "right", or "anywhere" (the junk stands between the tokens too).
    """
    length = max(row.size(0) for row in rows) + extra
    tokens, keep = torch.randint(VOCAB, (len(rows), length)), torch.zeros(len(rows), length, dtype=torch.bool)
    for place, real, row in zip(tokens, keep, rows, strict=True):
        slots = {
            "left": torch.arange(length - row.size(0), length),
            "right": torch.arange(row.size(0)),
            "anywhere": torch.randperm(length)[: row.size(0)].sort().values,
        }[side]
        place[slots], real[slots] = row, True
    return tokens, keep


def close(actual: Tensor, expected: Tensor, why: str = "") -> None:
    """Equal to 1e-5 in float32, the precision that every promise here is held to."""
    torch.testing.assert_close(
        actual, expected, rtol=1e-5, atol=1e-5, msg=(lambda text: f"{why}: {text}") if why else None
    )
