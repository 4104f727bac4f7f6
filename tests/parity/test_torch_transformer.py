"""Our encoder–decoder beside `torch.nn.Transformer` with the same weights: the same states and gradients to 1e-5."""

import pytest
import torch
from torch import nn

from clearformer.model.build import build
from clearformer.model.config import FrontConfig, NormConfig
from clearformer.model.families import detr, transformer

B, S, T, D, HEADS, LAYERS, VOCAB = 3, 7, 5, 32, 4, 3, 29

# ours: theirs; both sides within one layer
ENCODER = {"self_attn": "self_attn", "ffn.up_proj": "linear1", "ffn.down_proj": "linear2"}
DECODER = ENCODER | {"cross_attn": "multihead_attn"}
ENCODER_NORMS = {"self_attn_residual": "norm1", "ffn_residual": "norm2"}
DECODER_NORMS = {"self_attn_residual": "norm1", "cross_attn_residual": "norm2", "ffn_residual": "norm3"}


def copy_layer(ours, theirs, parts, norms, slot):
    for mine, name in parts.items():
        part, other = ours.get_submodule(mine), theirs.get_submodule(name)
        if isinstance(other, nn.MultiheadAttention):
            projections = (part.q_proj, part.k_proj, part.v_proj)
            other.in_proj_weight.copy_(torch.cat([projection.weight for projection in projections]))
            other.in_proj_bias.copy_(torch.cat([projection.bias for projection in projections]))
            part, other = part.out_proj, other.out_proj
        other.load_state_dict(part.state_dict())
    for mine, name in norms.items():
        theirs.get_submodule(name).load_state_dict(getattr(ours.get_submodule(mine), slot).state_dict())


@torch.no_grad()
def twins(place, family=transformer, **choices):
    """Two models with the same random weights."""
    ours = build(
        family(
            vocab_size=VOCAB, dim=D, hidden_dim=48, layers=LAYERS, heads=HEADS, norm=NormConfig(place=place), **choices
        )
    ).eval()
    for parameter in ours.parameters():
        parameter.add_(0.1 * torch.randn_like(parameter))
    theirs = nn.Transformer(
        D, HEADS, LAYERS, LAYERS, dim_feedforward=48, dropout=0.0, batch_first=True, norm_first=place == "pre"
    ).eval()
    slot = "before" if place == "pre" else "after"
    for mine, other in zip(ours.encoder.layers, theirs.encoder.layers, strict=True):
        copy_layer(mine, other, ENCODER, ENCODER_NORMS, slot)
    for mine, other in zip(ours.decoder.layers, theirs.decoder.layers, strict=True):
        copy_layer(mine, other, DECODER, DECODER_NORMS, slot)
    if place == "pre":
        theirs.encoder.norm.load_state_dict(ours.encoder.norm.state_dict())
        theirs.decoder.norm.load_state_dict(ours.decoder.norm.state_dict())
    else:  # torch adds a norm behind the stack that the paper does not have
        theirs.encoder.norm = theirs.decoder.norm = None
    return ours, theirs


def keeps(padding):
    source = torch.arange(S) < torch.tensor([[7], [4], [2]])
    target = torch.arange(T) < torch.tensor([[5], [2], [3]])
    return {"no padding": (None, None), "right": (source, target), "left": (source.flip(1), target.flip(1))}[padding]


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@pytest.mark.parametrize("padding", ["no padding", "right", "left"])
@pytest.mark.parametrize("place", ["post", "pre"])
def test_states_and_gradients_are_equal(place, padding):
    ours, theirs = twins(place)
    source, target = torch.randint(VOCAB, (B, S)), torch.randint(VOCAB, (B, T))
    source_keep, target_keep = keeps(padding)
    real = torch.ones(B, T, dtype=torch.bool) if target_keep is None else target_keep

    # one pass each, from the same embeddings; in torch's masks True means "may not look"
    vectors = [ours.encoder.front(source, source_keep).x, ours.decoder.front(target, target_keep).x]
    expected = theirs(
        *vectors,
        tgt_mask=nn.Transformer.generate_square_subsequent_mask(T, dtype=torch.bool),
        src_key_padding_mask=None if source_keep is None else ~source_keep,
        tgt_key_padding_mask=None if target_keep is None else ~target_keep,
        memory_key_padding_mask=None if source_keep is None else ~source_keep,
    )
    states = ours.decoder(target, ours.encode(source, keep=source_keep), keep=target_keep)
    torch.testing.assert_close(states[real], expected[real], rtol=1e-5, atol=1e-5)

    gradients = []
    for output in (states, expected):
        ours.zero_grad(set_to_none=True)
        output[real].pow(2).mul(torch.linspace(-1, 1, D)).sum().backward()
        gradients.append(ours.encoder.front.embed.weight.grad)  # one table: source, target and everything above them
    torch.testing.assert_close(*gradients, rtol=1e-4, atol=1e-5)


def test_logits_are_the_states_read_by_the_tied_table():
    ours, _ = twins("post")
    source, target = torch.randint(VOCAB, (B, S)), torch.randint(VOCAB, (B, T))
    states = ours.decoder(target, ours.encode(source))
    torch.testing.assert_close(ours(source, target), states @ ours.encoder.front.embed.weight.mT, rtol=1e-5, atol=1e-5)


@torch.no_grad()
@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@pytest.mark.parametrize("place", ["post", "pre"])
def test_queries_are_a_decoder_without_a_causal_mask(place):
    """Pictures in, one state per query out: torch's encoder and decoder from the same vectors, nothing hidden."""
    ours, theirs = twins(place, detr, front=FrontConfig(kind="patches", picture=8, patch=4))
    pictures = torch.randn(B, 3, 8, 8)
    expected = theirs(ours.encoder.front(pictures).x, ours.decoder.front(B).x)
    torch.testing.assert_close(ours.decoder(ours.encode(pictures)), expected, rtol=1e-5, atol=1e-5)
