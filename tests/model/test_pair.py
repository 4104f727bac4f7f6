"""A pair: two networks, one space; scores are cosines, stretched, and each half is an ordinary network."""

import math
from dataclasses import replace

import pytest
import torch

from clearformer.model.build import build
from clearformer.model.config import ModelConfig
from clearformer.model.pair import ContrastivePair
from clearformer.model.trace import trace
from model.specimens import PAIRS, VOCAB, close

PICTURES = torch.randn(3, 3, 8, 8, generator=torch.Generator().manual_seed(0))
TOKENS = torch.randint(VOCAB, (4, 6), generator=torch.Generator().manual_seed(1))


def stirred(name):
    torch.manual_seed(0)
    model = build(PAIRS[name]).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return model


def test_scores_by_hand():
    pair = ContrastivePair(torch.nn.Identity(), torch.nn.Identity(), each=True)
    with torch.no_grad():
        pair.scale.fill_(math.log(2.0))
        pair.bias.fill_(-1.0)
    texts, pictures = torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.tensor([[0.6, 0.8]])
    scores = pair.compare(pictures, texts)
    close(scores, torch.tensor([[2 * 0.6 - 1, 2 * 0.8 - 1]]))
    close(pair.probabilities(scores), scores.sigmoid())


@pytest.mark.parametrize("name", PAIRS)
def test_every_text_at_every_picture(name):
    """A picture's score for a text depends on these two alone."""
    model = stirred(name)
    scores = model(PICTURES, TOKENS)
    assert scores.shape == (3, 4)
    close(model(PICTURES[1:2], TOKENS[2:3]), scores[1:2, 2:3])


def test_texts_compete_or_are_judged_alone():
    clip, siglip = stirred("clip"), stirred("siglip")
    shares, judged = (one.probabilities(one(PICTURES, TOKENS)) for one in (clip, siglip))
    close(shares.sum(-1), torch.ones(3))
    close(siglip.probabilities(siglip(PICTURES, TOKENS[:1]))[:, 0], judged[:, 0])
    assert not torch.allclose(clip.probabilities(clip(PICTURES, TOKENS[:1]))[:, 0], shares[:, 0])


@pytest.mark.parametrize("name", PAIRS)
def test_vectors_have_length_one_and_names(name):
    model = stirred(name)
    with trace(model) as seen:
        model(PICTURES, TOKENS)
    close(model.embed_texts(TOKENS).norm(dim=-1), torch.ones(4))
    close(model.embed_pictures(PICTURES).norm(dim=-1), torch.ones(3))
    stack = "decoder" if name == "clip" else "encoder"
    assert seen[f"texts.{stack}.layers.1.self_attn.weights"].shape == (4, 2, 6, 6)
    assert seen["pictures.encoder.layers.0.ffn.hidden"].shape[-1] == 24
    assert seen["cosines"].abs().max() <= 1 + 1e-5
    close(seen["logits"], model(PICTURES, TOKENS))


def test_what_is_no_pair_is_refused():
    clip = PAIRS["clip"].pair
    for pair, why in (
        (replace(clip, texts=clip.pictures), "pair.texts must read tokens"),
        (replace(clip, pictures=clip.texts), "pair.pictures must read patches"),
        (replace(clip, texts=replace(clip.texts, head=replace(clip.texts.head, width=7))), "7 numbers and pictures of"),
    ):
        with pytest.raises(ValueError, match=why):
            build(ModelConfig(shape="pair", pair=pair))
    with pytest.raises(ValueError, match="under `pair`"):
        build(ModelConfig(shape="pair", vocab_size=5))
