"""Layers: norms, feed-forward and residuals, and what each may and may not depend on."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from clearformer.model.attention import Attention
from clearformer.model.attention_context import AttentionContext, Memory
from clearformer.model.layers import (
    BatchNorm,
    DecoderLayer,
    EncoderLayer,
    FeatureScale,
    FeedForward,
    GatedFeedForward,
    Residual,
    post_norm,
    pre_norm,
    scaled_norm,
)
from model.specimens import close

B, T, D = 3, 5, 8


def places(length=T):
    return AttentionContext(torch.arange(length)[None], torch.arange(length)[None])


def layer_norm():
    return nn.LayerNorm(D)


def test_shapes():
    x, memory = torch.randn(B, T, D), Memory(torch.randn(B, 7, D))
    for part in (BatchNorm(D), FeedForward(D, 12), GatedFeedForward(D, 12)):
        assert part(x).shape == (B, T, D)

    def residual():
        return post_norm(layer_norm)

    encoder = EncoderLayer(self_attn=Attention(D, heads=2), ffn=FeedForward(D, 12), residual=residual)
    assert encoder(x, places()).shape == (B, T, D)
    decoder = DecoderLayer(
        self_attn=Attention(D, heads=2), cross_attn=Attention(D, heads=2), ffn=FeedForward(D, 12), residual=residual
    )
    across = AttentionContext(torch.arange(T)[None], torch.arange(7)[None])
    assert decoder(x, places(), memory=memory, memory_context=across).shape == (B, T, D)


# ---- norms ----------------------------------------------------------------------------------------------------------


def test_layer_norm_knows_nothing_of_batch_mates_and_batch_norm_does():
    """Why Transformers do not use BatchNorm: a sentence's numbers would depend on what else is in the batch."""
    x, others = torch.randn(1, T, D), torch.randn(2, T, D)
    for norm in (nn.LayerNorm(D), nn.RMSNorm(D)):
        close(norm(torch.cat((x, others)))[:1], norm(x))
    norm = BatchNorm(D)
    assert (norm(torch.cat((x, others)))[:1] - norm(x)).abs().max() > 0.1


def test_batch_norm_takes_padding_for_data_and_differs_in_evaluation():
    norm, x = BatchNorm(D), torch.randn(B, T, D)
    in_training = norm(x)
    padded = torch.cat((x, torch.zeros(B, 4, D)), dim=1)
    assert (norm(padded)[:, :T] - in_training).abs().max() > 0.05
    assert (norm.eval()(x) - in_training).abs().max() > 0.05


def test_batch_norm_by_the_formula():
    x = torch.randn(B, T, D)
    tokens = x.flatten(0, 1)
    expected = (tokens - tokens.mean(0)) / (tokens.var(0, unbiased=False) + 1e-5).sqrt()
    close(BatchNorm(D)(x), expected.view_as(x))


# ---- feed-forward ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", [FeedForward, GatedFeedForward])
def test_feed_forward_is_position_wise(part):
    """Every position is worked on alone: shuffle them, change a neighbour, and nothing but the order changes."""
    ffn, x, order = part(D, 12), torch.randn(B, T, D), torch.randperm(T)
    close(ffn(x[:, order]), ffn(x)[:, order])
    changed = x.clone()
    changed[:, 2] += 1.0
    moved = (ffn(changed) - ffn(x)).abs().amax(dim=(0, 2)) > 1e-6
    assert moved.tolist() == [False, False, True, False, False]


def test_feed_forward_by_the_formula():
    """max(0, x·W₁ + b₁)·W₂ + b₂, and with a gate silu(x·G)·(x·W₁)·W₂."""
    x, plain, gated = torch.randn(B, T, D), FeedForward(D, 12), GatedFeedForward(D, 12)
    hidden = (x @ plain.up_proj.weight.mT + plain.up_proj.bias).clamp(min=0)
    close(plain(x), hidden @ plain.down_proj.weight.mT + plain.down_proj.bias)
    gate = x @ gated.gate_proj.weight.mT
    hidden = gate * gate.sigmoid() * (x @ gated.up_proj.weight.mT)
    close(gated(x), hidden @ gated.down_proj.weight.mT)


def test_dropout_of_activations_is_its_own_site():
    ffn, x = FeedForward(D, 64, dropout=0.5), torch.randn(B, T, D)
    assert not torch.equal(ffn(x), ffn(x))
    ffn.eval()
    assert torch.equal(ffn(x), ffn(x))


# ---- residuals ------------------------------------------------------------------------------------------------------


def test_post_norm_and_pre_norm_are_one_residual_with_the_norm_in_another_slot():
    x, norm, sublayer = torch.randn(B, T, D), nn.LayerNorm(D), nn.Linear(D, D)
    close(Residual(after=norm)(x, sublayer), norm(x + sublayer(x)))
    close(Residual(before=norm)(x, sublayer), x + sublayer(norm(x)))
    close(post_norm(layer_norm)(x, sublayer), F.layer_norm(x + sublayer(x), (D,)))
    close(pre_norm(layer_norm)(x, sublayer), x + sublayer(F.layer_norm(x, (D,))))


def test_pre_norm_leaves_the_gradient_a_straight_path():
    """A stack whose sublayers are silent passes x, and its gradient, through unchanged; post-norm rescales both."""

    def through(residual):
        x = (3 * torch.randn(1, T, D)).requires_grad_()
        y = x
        for _ in range(6):
            y = residual(y, torch.zeros_like)
        return y - x, torch.autograd.grad(y.sum(), x)[0]

    change, gradient = through(pre_norm(layer_norm))
    assert change.abs().max() == 0
    assert (gradient == 1).all()
    change, gradient = through(post_norm(layer_norm))
    assert change.abs().max() > 0.1
    assert gradient.abs().max() < 0.1


def test_what_a_part_adds_is_scaled_feature_by_feature():
    x, part = torch.randn(B, T, D), nn.Linear(D, D)
    residual = scaled_norm(layer_norm, lambda: FeatureScale(D, 0.1))
    close(residual(x, part), x + 0.1 * part(F.layer_norm(x, (D,))))
    residual.inside.weight.data.zero_()
    close(residual(x, part), x)


def test_residual_dropout_falls_on_the_branch_alone():
    """Whatever is dropped, x itself goes through."""
    residual, x = Residual(dropout=0.5), torch.randn(B, T, D)
    branch = residual(x, torch.ones_like) - x
    assert set(branch.round(decimals=4).unique().tolist()) == {0.0, 2.0}  # dropped, or scaled up by 1/(1 - ½)


# ---- the two layers -------------------------------------------------------------------------------------------------


def test_a_layer_is_attention_then_feed_forward():
    x = torch.randn(B, T, D)
    layer = EncoderLayer(self_attn=Attention(D, heads=2), ffn=FeedForward(D, 12), residual=lambda: pre_norm(layer_norm))
    middle = x + layer.self_attn(F.layer_norm(x, (D,)), places())
    close(layer(x, places()), middle + layer.ffn(F.layer_norm(middle, (D,))))


def test_each_sublayer_has_a_norm_of_its_own():
    layer = DecoderLayer(
        self_attn=Attention(D, heads=2),
        cross_attn=Attention(D, heads=2),
        ffn=FeedForward(D, 12),
        residual=lambda: post_norm(layer_norm),
    )
    norms = {id(module) for module in layer.modules() if isinstance(module, nn.LayerNorm)}
    assert len(norms) == 3


def test_missing_memory_gets_a_sentence():
    layer = DecoderLayer(
        self_attn=Attention(D, heads=2),
        cross_attn=Attention(D, heads=2),
        ffn=FeedForward(D, 12),
        residual=lambda: post_norm(layer_norm),
    )
    with pytest.raises(ValueError, match="this decoder attends to an encoder's output, but none was given; pass mem"):
        layer(torch.randn(B, T, D), places())
