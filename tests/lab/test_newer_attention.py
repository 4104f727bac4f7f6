"""Attentions of recent papers: what they come down to in the cases that one can see through."""

import torch

from clearformer.lab.newer_attention import DifferentialScores, GatedOutput, TokenValues
from clearformer.model import masks
from clearformer.model.attention import Attention, attend
from clearformer.model.attention_context import AttentionContext
from clearformer.model.build import build
from clearformer.model.families import gpt2

PLACES = torch.arange(5)[None]


def context(mask=None):
    return AttentionContext(PLACES, PLACES, mask=mask)


def test_an_open_gate_changes_nothing_and_a_closed_one_lets_nothing_through():
    part, x = Attention(16, heads=2), torch.randn(1, 5, 16)
    before, gated = part(x, context()), GatedOutput(part)
    with torch.no_grad():
        gated.gate_proj.bias.fill_(50.0)
        assert torch.allclose(gated(x, context()), before, atol=1e-5)
        gated.gate_proj.bias.fill_(-50.0)
        assert torch.allclose(gated(x, context()), part.out_proj.bias.expand(1, 5, 16), atol=1e-5)


def test_a_difference_of_nothing_is_plain_attention_of_half_the_features():
    q, k, v = (torch.randn(1, 2, 5, 8) for _ in range(3))
    scores = DifferentialScores(8, depth=1)
    with torch.no_grad():
        scores.amount.fill_(0.0)
        plain = attend(q[..., :4], k[..., :4], v)
        expected = torch.nn.functional.rms_norm(plain, (8,)) * (1 - scores.start)
        assert torch.allclose(scores(q, k, v), expected, atol=1e-5)


def test_nothing_of_the_future_is_seen():
    q, k, v = (torch.randn(1, 2, 5, 8) for _ in range(3))
    mask, scores = masks.causal(5, 5), DifferentialScores(8, depth=2)
    other_k, other_v = k.clone(), v.clone()
    other_k[:, :, 3:], other_v[:, :, 3:] = 1.0, 2.0
    with torch.no_grad():
        assert torch.equal(scores(q, k, v, mask=mask)[:, :, :3], scores(q, other_k, other_v, mask=mask)[:, :, :3])


def test_values_get_a_vector_of_their_own_token():
    model = build(gpt2(vocab_size=10, dim=16, hidden_dim=32, layers=1, heads=2, max_len=8)).eval()
    part, table = model.decoder.layers[0].self_attn, torch.nn.Embedding(10, 16)
    tokens = torch.tensor([[1, 2, 3]])
    before = model(tokens)
    part.v_proj = TokenValues(part.v_proj, table, model.decoder.front)
    with torch.no_grad():
        part.v_proj.amount.fill_(0.0)
        assert torch.allclose(model(tokens), before, atol=1e-5)
        part.v_proj.amount.fill_(1.0)
        changed = model(tokens)
        table.weight[3] += 1.0
        later = model(tokens)
    assert not torch.allclose(changed, before, atol=1e-3)
    assert torch.equal(later[:, :2], changed[:, :2])
    assert not torch.allclose(later[:, 2], changed[:, 2], atol=1e-4)
