"""Integrated gradients: exact where the answer is known, complete on real networks, and alone in their thread."""

import threading

import numpy as np
import pytest
import torch
from torch import nn

from clearformer.inference.integrated_gradients import (
    TracedRow,
    cut_path,
    embedding_of,
    integrated_gradients,
    points_between,
)
from clearformer.model.build import build
from clearformer.model.config import HeadConfig
from clearformer.model.families import bert, gpt2


class Toy(nn.Module):
    """A network of one's own choice over embedded tokens."""

    def __init__(self, rule):
        super().__init__()
        self.encoder = nn.Module()
        self.encoder.front = nn.Module()
        self.encoder.front.embed = nn.Embedding(6, 3)
        self.rule = rule

    def forward(self, tokens, keep=None):
        return self.rule(self.encoder.front.embed(tokens))


def row(*tokens):
    ids = torch.tensor([tokens])
    return TracedRow(ids, torch.ones_like(ids, dtype=torch.bool), {})


def test_a_linear_logit_is_shared_out_exactly():
    weights = torch.randn(3)
    toy = Toy(lambda x: (x @ weights).sum(dim=1))
    vectors = toy.encoder.front.embed(torch.tensor([1, 2, 4])).detach()
    for steps in (1, 2, 7):
        found = integrated_gradients(toy, row(1, 2, 4), torch.zeros(3, 3), lambda output: output, steps=steps)
        np.testing.assert_allclose(found.scores, vectors @ weights, rtol=1e-5)
        assert found.baseline_logit == 0


def test_a_product_is_shared_evenly():
    """x·y from zero: both factors grow together, and each is given half (Sundararajan et al., 2017, section 4)."""
    toy = Toy(lambda x: x[:, 0, 0] * x[:, 1, 0])
    found = integrated_gradients(toy, row(1, 2), torch.zeros(2, 3), lambda output: output, steps=8)
    half = found.logit / 2
    np.testing.assert_allclose(found.scores, [half, half], rtol=1e-5)


def test_a_jump_is_found_wherever_it_stands():
    """A logit that rises within a hundredth of the way; even spacing would miss it."""
    for place in (0.1234, 0.5, 0.87):
        toy = Toy(lambda x, place=place: torch.sigmoid(500 * (x[:, 0, 0] - place)))
        with torch.no_grad():
            toy.encoder.front.embed.weight[1] = torch.tensor([1.0, 0.0, 0.0])
        found = integrated_gradients(toy, row(1), torch.zeros(1, 3), lambda output: output, steps=64)
        assert float(found.scores.sum()) == pytest.approx(found.logit - found.baseline_logit, rel=1e-2)


@pytest.mark.parametrize(("family", "pool"), [(bert, "first"), (bert, "mean"), (gpt2, "last")])
def test_real_networks_are_complete(family, pool):
    head = HeadConfig(kind="class", labels=3, pool=pool)
    model = build(family(vocab_size=30, dim=16, hidden_dim=24, layers=2, heads=2, max_len=12, head=head)).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.3 * torch.randn_like(weight))
    start = embedding_of(model).weight[0].detach().repeat(6, 1)
    given = row(3, 7, 7, 1, 20, 11)
    found = integrated_gradients(model, given, start, lambda output: output[:, 1])
    with torch.no_grad():
        assert found.logit == pytest.approx(float(model(given.tokens, keep=given.keep)[0, 1]), abs=1e-5)
    assert float(found.scores.sum()) == pytest.approx(found.logit - found.baseline_logit, rel=1e-2)
    assert all(weight.grad is None for weight in model.parameters()), "a model is not changed by being explained"


def test_it_works_where_gradients_were_switched_off():
    toy = Toy(lambda x: x.sum(dim=(1, 2)))
    with torch.inference_mode():  # the row is made here, too
        found = integrated_gradients(toy, row(1), torch.zeros(1, 3), lambda output: output)
    assert float(found.scores.sum()) == pytest.approx(found.logit)


def test_other_threads_see_the_model_as_it_is():
    heard = []
    toy = Toy(lambda x: x.sum(dim=(1, 2)))
    plain = float(toy(torch.tensor([[1]])).detach())

    def logit_of(output):
        other = threading.Thread(target=lambda: heard.append(float(toy(torch.tensor([[1]])).detach())))
        other.start()
        other.join()
        return output

    integrated_gradients(toy, row(1), torch.zeros(1, 3), logit_of, steps=4)
    assert heard
    assert set(heard) == {plain}


def test_the_way_is_cut_where_the_logit_changes():
    edges, values = cut_path(lambda x: np.tanh(300 * (x - 0.3)), 32)
    assert len(edges) == len(values) == 33
    assert (edges[0], edges[-1]) == (0, 1)
    assert (np.diff(edges) > 0).all()
    assert np.count_nonzero(np.abs(edges - 0.3) < 0.02) > 10
    level, _ = cut_path(np.zeros_like, 20)  # nothing changes: it still ends, in as many parts
    assert len(level) == 21
    shares, parts = points_between(edges, 2)
    assert len(shares) == 64
    assert parts.sum() == pytest.approx(1)
    assert ((shares > 0) & (shares < 1)).all()
