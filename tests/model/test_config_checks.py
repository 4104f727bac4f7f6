"""Choices that do not fit together are refused at once, with the field, the value and the remedy."""

from dataclasses import replace

import pytest
import torch

from clearformer.model.build import build
from clearformer.model.config import (
    AttentionConfig,
    DropoutConfig,
    EmbeddingConfig,
    FrontConfig,
    HeadConfig,
    ModelConfig,
    PositionConfig,
)

TOKENS = {"vocab_size": 10, "dim": 16, "hidden_dim": 32, "layers": 2, "attention": AttentionConfig(heads=4)}


def buckets(count, reach):
    return PositionConfig(kind="buckets", buckets=count, max_distance=reach)


PICTURES = FrontConfig(kind="patches", picture=8, patch=4)
STEM = FrontConfig(kind="patches", picture=8, patch=4, stem="convolution")
BOXES = HeadConfig(kind="boxes", labels=2, queries=3)


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"attention": AttentionConfig(heads=3)}, "3 heads do not divide a width of 16; choose a divisor"),
        ({"attention": AttentionConfig(heads=0)}, "attention.heads must be at least 1, not 0"),
        ({"dim": 0}, "dim must be at least 1, not 0"),
        ({"layers": -1}, "layers must be at least 1, not -1"),
        ({"decoder_layers": 0}, "decoder_layers must be at least 1, or left out, not 0"),
        ({"vocab_size": 0}, "vocab_size must say how many tokens there are"),
        ({"vocab_size": 0, "front": FrontConfig(kind="sound")}, "vocab_size must say how many tokens there are"),
        ({"target_vocab_size": 12}, r'source \(10 tokens\) and target \(12\) cannot share one table; set'),
        ({"dropout": DropoutConfig(attention=1.0)}, r"dropout.attention must be at least 0 and below 1, not 1.0"),
        ({"dropout": DropoutConfig(residual=-0.1)}, r"dropout.residual must be at least 0 and below 1, not -0.1"),
        ({"head": HeadConfig(dropout=2.0)}, r"dropout.head must be at least 0 and below 1, not 2.0"),
        ({"shape": "encoder", "head": HeadConfig(kind="class")}, "a head for class needs head.labels, the number of"),
        ({"shape": "encoder", "head": HeadConfig(kind="tags")}, "a head for tags needs head.labels"),
        ({"shape": "encoder", "head": HeadConfig(kind="pixels")}, "a head for pixels needs pictures; set front.kind"),
        ({"head": HeadConfig(kind="class", labels=2)}, "a model of shape encoder-decoder has no head for class"),
        ({"shape": "lstm", "head": HeadConfig(kind="tags", labels=2)}, "a model of shape lstm has no head for tags"),
        ({"front": PICTURES, "head": HeadConfig(kind="boxes", labels=2)}, "that finds boxes needs head.queries"),
        ({"head": BOXES}, "boxes are found in pictures, not in tokens; set front.kind to patches"),
        ({"front": PICTURES, "head": BOXES, "decoder_position": PositionConfig()}, "queries have no order, so they"),
        ({"front": replace(PICTURES, patch=3)}, "pictures of 8×8 do not divide into patches of 3×3"),
        ({"front": replace(PICTURES, patch=0)}, "front.patch must be at least 1, not 0"),
        ({"front": replace(STEM, stem_layers=0)}, "front.stem_layers must be at least 1, not 0"),
        ({"front": replace(STEM, patch=1)}, "a stem halves pictures again and again: front.patch is 2, 4"),
        ({"front": replace(STEM, picture=12, patch=6)}, "a stem halves pictures again and again: .* not 6"),
        ({"shape": "decoder", "front": PICTURES}, "a decoder alone reads tokens, not patches; give it an encoder"),
        ({"position": buckets(2, 128)}, "position.buckets must be at least 4 here, not 2"),
        ({"position": buckets(32, 16)}, "position.max_distance must be above 16, up to which 32 buckets are exact"),
        ({"shape": "decoder", "position": buckets(1, 9)}, "position.buckets must be at least 2 here, not 1"),
        ({"shape": "encoder", "position": buckets(32, 8)}, "position.max_distance must be above 8, up to which"),
        ({"decoder_position": buckets(8, 4)}, "position.max_distance must be above 4, up to which 8"),
        ({"embedding": EmbeddingConfig(dim=8)}, "states of width 16 do not fit a table of width 8; set head.transform"),
    ],
)  # fmt: skip
def test_what_cannot_be_built_is_refused(choices, sentence):
    with pytest.raises(ValueError, match=sentence):
        ModelConfig(**TOKENS | choices)


@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"attention": AttentionConfig(heads=3, head_dim=8)},
        {"target_vocab_size": 12, "embedding": EmbeddingConfig(tie="output")},
        {"target_vocab_size": 10},
        {"embedding": EmbeddingConfig(dim=8), "head": HeadConfig(transform=True)},
        {"vocab_size": 0, "front": PICTURES, "head": BOXES},
        {"shape": "encoder", "vocab_size": 0, "front": PICTURES, "head": HeadConfig(kind="class", labels=2)},
    ],
)
def test_what_can_be_built_is_not(choices):
    ModelConfig(**TOKENS | choices)


@torch.no_grad()
@pytest.mark.parametrize("shape", ["encoder", "decoder", "encoder-decoder"])
@pytest.mark.parametrize("count", range(1, 12))
def test_buckets_that_are_accepted_work_at_every_distance(shape, count):
    for reach in range(1, 14):
        try:
            config = ModelConfig(**TOKENS | {"shape": shape, "layers": 1, "position": buckets(count, reach)})
        except ValueError:
            continue
        tokens = torch.arange(30).remainder(10)[None]
        given = (tokens, tokens) if shape == "encoder-decoder" else (tokens,)
        assert build(config).eval()(*given).isfinite().all()
