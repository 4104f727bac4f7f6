"""Sentences of study notes beside what happens: the evidence of docs/notes-corrected.md that has no other home."""

import math

import pytest
import torch
from torch import nn

import clearformer as cf
from clearformer.model import families, masks
from clearformer.model.attention import attend
from clearformer.model.config import EmbeddingConfig
from clearformer.model.positions import Sinusoidal

QUERY = torch.tensor([0.44, 0.45, 0.48, 0.49])
KEYS = torch.tensor([[0.48, 0.5, 0.45, 0.48], [-0.1, 0.1, -0.3, 0.1], [0.1, 0.5, 0.1, 0.5]])


def small(**choices):
    """The 2017 model, narrow."""
    return cf.build(families.transformer(vocab_size=200, dim=64, hidden_dim=128, layers=2, heads=4, **choices))


def size(x):
    return x.square().mean().sqrt().item()


def test_there_is_nothing_recurrent_in_it():
    """“Built on RNNs”: no part of it keeps a state from token to token, and the last token reaches the first in the
    first layer, not after as many steps as there are words."""
    model = small().eval()
    assert not any(isinstance(part, nn.RNNBase | nn.RNNCellBase) for part in model.modules())
    with cf.trace(model) as seen, torch.no_grad():
        model(torch.arange(50)[None], torch.arange(3)[None])
    assert (seen["encoder.layers.0.self_attn.weights"][0, :, -1, 0] > 0).all()


def test_the_worked_example_is_not_made_of_cosines():
    """The keys are said to be normalised, and are not; true cosines give other weights than the 0.48, 0.18, 0.34."""
    assert KEYS.norm(dim=-1).tolist() == pytest.approx([0.956, 0.346, 0.721], abs=1e-3)
    plain = (KEYS @ QUERY).softmax(-1)
    cosine = torch.cosine_similarity(KEYS, QUERY[None]).softmax(-1)
    assert plain.tolist() == pytest.approx([0.48, 0.18, 0.34], abs=0.005)
    assert cosine.tolist() == pytest.approx([0.470, 0.130, 0.400], abs=1e-3)


def test_the_causal_mask_does_not_hide_padding():
    """“Padding is masked by hiding what comes after t”: hide the future alone, and padding to the left is seen by all;
    and an encoder, which hides no future, needs its padding hidden no less."""
    keep = torch.tensor([[False, False, True, True]])
    assert masks.causal(4, 4)[-1].tolist() == [True, True, True, True]
    assert masks.padding(keep)[0, 0, 0].tolist() == [False, False, True, True]
    model = small().eval()
    sentence, padded = torch.tensor([[5, 6]]), torch.tensor([[9, 9, 5, 6]])
    with torch.no_grad():
        alone = model.encode(sentence).states
        hidden = model.encode(padded, keep=keep).states[:, 2:]
        forgotten = model.encode(padded).states[:, 2:]
    torch.testing.assert_close(hidden, alone, rtol=0, atol=1e-5)
    assert (forgotten - alone).abs().max() > 0.1


def test_setting_scores_to_zero_does_not_hide_anything():
    """“What comes after t is set to 0”: exp(0) = 1, so a score of zero still draws weight; minus infinity does not."""
    scores = torch.tensor([1.0, 2.0, 3.0])
    zeroed = (scores * torch.tensor([1, 1, 0])).softmax(-1)
    hidden = scores.masked_fill(torch.tensor([False, False, True]), -math.inf).softmax(-1)
    assert zeroed[2] > 0.09
    assert hidden[2] == 0


def test_root_d_makes_embeddings_larger():
    """“×√d keeps the numbers small”: it does the opposite. Tables begin at 1/√d, so that the tied output starts calm;
    ×√d brings a token's vector to the size of the positions, which would drown it otherwise."""
    torch.manual_seed(0)
    tokens, waves = torch.randint(200, (8, 32)), size(Sinusoidal(64).embed(torch.arange(32)[None]))
    assert waves == pytest.approx(math.sqrt(0.5), abs=1e-4)
    sizes, scores = {}, {}
    for scaled in (False, True):
        torch.manual_seed(0)
        model = small(embedding=EmbeddingConfig(scale=scaled, tie="all")).eval()
        front = model.encoder.front
        sizes[scaled] = size(front.embed(tokens) * front.scale)
        with cf.trace(model) as seen, torch.no_grad():
            model(tokens, tokens)
        scores[scaled] = seen["encoder.layers.0.self_attn.scaled"].std().item()
    assert sizes[False] == pytest.approx(1 / 8, rel=0.1)
    assert sizes[True] == pytest.approx(1, rel=0.1)
    assert scores[True] > scores[False]


def test_dropout_is_closed_by_eval_and_by_nothing_else():
    """“Nothing to do at test time”: a model that was not told `eval()` gives another answer each time, also under
    `no_grad`."""
    model, tokens = small(), torch.arange(6)[None]
    with torch.no_grad():
        assert not torch.equal(model(tokens, tokens), model(tokens, tokens))
        model.eval()
        assert torch.equal(model(tokens, tokens), model(tokens, tokens))


def test_a_weighted_sum_needs_the_softmax():
    """“Z4 = Q4K1V1 + Q4K2V2 + …”: without the softmax the output grows with the scores and is no average of values."""
    q, k = torch.full((1, 1, 1, 4), 3.0), torch.full((1, 1, 3, 4), 3.0)
    v = torch.tensor([1.0, 2.0, 3.0]).view(1, 1, 3, 1)
    assert attend(q, k, v).item() == pytest.approx(2)
    assert (q @ k.mT @ v).item() == pytest.approx(36 * 6)
