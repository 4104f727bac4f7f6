"""The parts: every word of a configuration becomes a part, and the part does what the word says."""

from typing import get_args, get_type_hints

import pytest
import torch
from torch import nn

from clearformer.model import positions
from clearformer.model.attention import attend_fused
from clearformer.model.build import build
from clearformer.model.build_parts import ACTIVATIONS, FRONTS, HEADS, NORMS, RESIDUALS
from clearformer.model.config import (
    Activation,
    AttentionConfig,
    DropoutConfig,
    EmbeddingConfig,
    FrontConfig,
    HeadConfig,
    NormConfig,
)
from clearformer.model.disentangled import Disentangled
from clearformer.model.layers import BatchNorm, GatedFeedForward
from clearformer.model.positions import Learned
from model.specimens import KINDS, VOCAB, configured, specimen

TOKENS = torch.randint(VOCAB, (2, 5), generator=torch.Generator().manual_seed(0))


def words(config, field):
    return set(get_args(get_type_hints(config)[field]))


def test_every_word_has_a_part():
    """A value that the configuration allows and no table knows would be a promise without a part."""
    assert set(get_args(Activation)) == set(ACTIVATIONS)
    assert words(NormConfig, "kind") == set(NORMS)
    assert words(NormConfig, "place") == set(RESIDUALS)
    assert words(FrontConfig, "kind") == set(FRONTS)
    assert words(HeadConfig, "kind") == set(HEADS)


SCHEMES = {
    "none": positions.NoPosition, "sinusoidal": positions.Sinusoidal, "split-sinusoidal": positions.SplitSinusoidal,
    "tensor2tensor": positions.Tensor2TensorSinusoidal, "learned": positions.Learned, "rotary": positions.Rotary,
    "alibi": positions.Alibi, "buckets": positions.Buckets, "shaw": positions.Shaw, "relative": positions.Relative,
    "disentangled": Disentangled,
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_position_scheme_acts_in_one_place(kind):
    """On the embeddings or in every attention, never in both; cross-attention has none."""
    model = build(configured("transformer", kind))
    added = type(model.encoder.front.position)
    inside = {type(layer.self_attn.position) for layer in [*model.encoder.layers, *model.decoder.layers]}
    assert {added, *inside} == {SCHEMES[kind], positions.NoPosition}
    assert {type(layer.cross_attn.position) for layer in model.decoder.layers} == {positions.NoPosition}


def test_schemes_without_parameters_of_a_layer_are_shared():
    """T5 has one table of biases a stack; Shaw and Transformer-XL have parameters in every layer."""
    for kind, shared in (("buckets", True), ("rotary", True), ("alibi", True), ("shaw", False), ("relative", False)):
        layers = build(configured("t5", kind)).encoder.layers
        assert (layers[0].self_attn.position is layers[1].self_attn.position) is shared, kind
    model = build(configured("t5"))
    encoder, decoder = (stack.layers[0].self_attn.position for stack in (model.encoder, model.decoder))
    assert (encoder.bidirectional, decoder.bidirectional) == (True, False)
    assert encoder is not decoder


@pytest.mark.parametrize(
    ("tie", "same"),
    [
        ("all", {"source", "target", "output"}),
        ("inputs", {"source", "target"}),
        ("output", {"target", "output"}),
        ("none", set()),
    ],
)
def test_ties(tie, same):
    model = build(configured("transformer", embedding=EmbeddingConfig(tie=tie)))
    tables = {
        "source": model.encoder.front.embed.weight,
        "target": model.decoder.front.embed.weight,
        "output": model.head.table,
    }
    for one in tables:
        for other in tables:
            assert (tables[one] is tables[other]) == (one == other or {one, other} <= same), (one, other)


@pytest.mark.parametrize("family", ["transformer", "bert", "gpt2"])
@pytest.mark.parametrize("place", ["post", "pre"])
@pytest.mark.parametrize("kind", NORMS)
def test_norms_stand_where_they_are_told(family, place, kind):
    """Pre-norm stacks end with one norm more: nobody else has normalised their last sum."""
    model = build(configured(family, norm=NormConfig(kind=kind, place=place)))
    stack = model.encoder if family != "gpt2" else model.decoder
    for residual in (stack.layers[0].self_attn_residual, stack.layers[0].ffn_residual):
        filled, empty = (residual.before, residual.after) if place == "pre" else (residual.after, residual.before)
        assert isinstance(filled, NORMS[kind])
        assert isinstance(empty, nn.Identity)
    assert isinstance(stack.norm, NORMS[kind] if place == "pre" else nn.Identity)


def test_eps_is_honoured():
    model = build(configured("bert", norm=NormConfig(eps=0.25)))
    assert {module.eps for module in model.modules() if isinstance(module, nn.LayerNorm)} == {0.25}


def test_batch_norm_and_gates_can_be_chosen():
    model = specimen("gpt2", norm=NormConfig(kind="batch", place="pre"), gated=True)
    assert isinstance(model.decoder.norm, BatchNorm)
    assert isinstance(model.decoder.layers[0].ffn, GatedFeedForward)
    assert model(TOKENS).isfinite().all()


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_activations_are_the_ones_that_were_asked_for(activation):
    """At -1, 0 and 1: GELU exact and by tanh differ in the fourth decimal."""
    at = torch.tensor([-1.0, 0.0, 1.0])
    expected = {
        "relu": [0.0, 0.0, 1.0], "gelu": [-0.158655, 0.0, 0.841345], "gelu-tanh": [-0.158808, 0.0, 0.841192],
        "silu": [-0.268941, 0.0, 0.731059], "tanh": [-0.761594, 0.0, 0.761594],
        "quick-gelu": [-0.154204, 0.0, 0.845796],
    }[activation]  # fmt: skip
    ffn = build(configured("gpt2", activation=activation)).decoder.layers[0].ffn
    assert ffn.activation(at).tolist() == pytest.approx(expected, abs=1e-6)


def test_dropout_sites_are_separate():
    rates = DropoutConfig(embedding=0.1, attention=0.2, activation=0.3, residual=0.4)
    model = build(configured("transformer", dropout=rates))
    layer = model.decoder.layers[0]
    assert model.decoder.front.dropout.rate == 0.1
    assert layer.self_attn.dropout == layer.cross_attn.dropout == 0.2
    assert layer.ffn.dropout.rate == 0.3
    assert layer.self_attn_residual.dropout.rate == layer.ffn_residual.dropout.rate == 0.4


def test_attention_choices_arrive():
    choices = AttentionConfig(heads=6, kv_heads=3, head_dim=10, bias=False, scale=0.5, window=3)
    model = specimen("gpt2", attention=choices, heads=6)
    attention = model.decoder.layers[0].self_attn
    assert (attention.q_proj.out_features, attention.k_proj.out_features) == (60, 30)
    assert attention.q_proj.bias is None
    assert (attention.scale, model.decoder.window) == (0.5, 3)
    assert attention.kernel is attend_fused
    assert model(TOKENS).shape == (2, 5, VOCAB)


def test_a_picture_table_fits_its_patches():
    """max_len is about text; a picture has as many positions as patches, and one for the class token."""
    front = build(configured("vit", max_len=2)).encoder.front
    assert isinstance(front.position, Learned)
    assert front.position.max_len == 5
