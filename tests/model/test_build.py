"""Whole models from a configuration: every shape can be built, and its parts stand where they should."""

from dataclasses import replace
from typing import get_args

import pytest
import torch

from clearformer.model.build import SHAPES, build
from clearformer.model.config import EmbeddingConfig, Shape
from clearformer.model.trace import trace
from model.specimens import DIM, SPEAKERS, VOCAB, close, configured, specimen

TOKENS = torch.randint(VOCAB, (2, 5), generator=torch.Generator().manual_seed(0))


def test_every_shape_has_a_builder():
    """A value that the configuration allows and no table knows would be a promise without a model."""
    assert set(get_args(Shape)) == set(SHAPES)


def test_two_vocabularies():
    model = build(configured("transformer", target_vocab_size=11, embedding=EmbeddingConfig(tie="output")))
    assert model(TOKENS, TOKENS % 11).shape == (2, 5, 11)


def test_one_layer_may_stand_at_every_place():
    model = build(configured("albert", layers=5))
    assert len(model.encoder.layers) == 5
    assert len({id(layer) for layer in model.encoder.layers}) == 1


def test_stacks_may_differ_in_depth():
    model = build(configured("bart", layers=3, decoder_layers=1))
    assert (len(model.encoder.layers), len(model.decoder.layers)) == (3, 1)
    assert len(model.start_cache().self_attn) == 1


@pytest.mark.parametrize("family", [*SPEAKERS, "bert", "transformer", "t5", "whisper", "detr"])
def test_nothing_is_allocated_on_the_meta_device(family):
    with torch.device("meta"):
        model = build(configured(family))
    assert all(tensor.is_meta for tensor in [*model.parameters(), *model.buffers()])


PICTURES = torch.randn(2, 3, 8, 8, generator=torch.Generator().manual_seed(1))
QUERIES, LABELS = 6, 5


def test_an_encoder_decoder_finds_a_box_for_every_query():
    model = specimen("detr")
    assert model(PICTURES).shape == (2, QUERIES, LABELS + 1 + 4)
    with trace(model) as seen:
        model(PICTURES)
    assert seen["decoder.layers.0.self_attn.weights"].shape == (2, 4, QUERIES, QUERIES)
    assert (seen["decoder.layers.0.self_attn.weights"] > 0).all()  # no query is hidden from another
    assert seen["decoder.layers.1.cross_attn.weights"].shape == (2, 4, QUERIES, 5)
    assert seen["decoder.output"].shape == (2, QUERIES, DIM)


@torch.no_grad()
@pytest.mark.parametrize("kind", ["sinusoidal", "learned", "rotary", "buckets", "relative"])
def test_queries_are_a_set(kind):
    """In another order they give the same boxes in that order, whatever shows the encoder where its patches stand."""
    model, order = specimen("detr", kind), torch.tensor([3, 0, 5, 1, 4, 2])
    expected = model(PICTURES)[:, order]
    queries = model.decoder.front.queries.weight
    queries.copy_(queries[order].clone())
    close(model(PICTURES), expected)


@torch.no_grad()
def test_patches_that_are_padding_change_no_box():
    """A narrow picture on a square canvas: what stands in the rest of the canvas does not matter."""
    model, keep = specimen("detr"), torch.ones(2, 5, dtype=torch.bool)
    keep[0, [2, 4]] = False  # the class token is slot 0; the right half of a 2 × 2 grid of patches
    junk = PICTURES.clone()
    junk[0, :, :, 4:] = torch.randn(3, 8, 4)
    close(model(junk, keep=keep), model(PICTURES, keep=keep))
    assert not torch.allclose(model(junk), model(PICTURES))


def test_boxes_in_pictures_need_no_vocabulary():
    assert build(replace(configured("detr"), vocab_size=0))(PICTURES).shape == (2, QUERIES, LABELS + 1 + 4)
