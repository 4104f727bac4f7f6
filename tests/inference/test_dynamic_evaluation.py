"""A model that learns while it is scored: a copy of it does, by steps that are clipped and go back."""

import pytest
import torch
from torch import nn

from clearformer.inference.dynamic_evaluation import LARGEST_NORM, DynamicModel


def plain():
    torch.manual_seed(0)
    return nn.Linear(4, 3)


def loss_of(model, scale=1.0):
    return scale * model(torch.ones(1, 4)).square().sum()


def test_it_learns_and_the_model_itself_does_not():
    model = plain().requires_grad_(False)  # as a folder opens it, or not: the copy learns
    kept = [weight.clone() for weight in model.parameters()]
    dynamic = DynamicModel(model, rate=0.1, decay=0.0)
    before = float(loss_of(dynamic.model).detach())
    dynamic.learn(loss_of(dynamic.model))
    assert float(loss_of(dynamic.model).detach()) < before
    assert all(torch.equal(weight, old) for weight, old in zip(model.parameters(), kept, strict=True))
    assert not any(weight.requires_grad or weight.grad is not None for weight in model.parameters())


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_a_step_is_never_longer_than_the_rate_times_the_largest_norm(scale):
    model = plain()
    dynamic = DynamicModel(model, rate=0.1, decay=0.0)
    dynamic.learn(loss_of(dynamic.model, scale))
    pairs = zip(model.parameters(), dynamic.model.parameters(), strict=True)
    moved = sum(float((new - old).detach().square().sum()) for old, new in pairs) ** 0.5
    assert 0 < moved <= 0.1 * LARGEST_NORM + 1e-6


def test_without_a_rate_nothing_moves_and_decay_alone_leads_back():
    model = plain()
    still = DynamicModel(model, rate=0.0, decay=0.5)
    still.learn(loss_of(still.model))
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), still.model.parameters(), strict=True))
    away = DynamicModel(model, rate=0.1, decay=0.0)
    away.learn(loss_of(away.model))
    away.rate, away.decay = 0.0, 1.0
    away.learn(loss_of(away.model))
    for old, new in zip(model.parameters(), away.model.parameters(), strict=True):
        torch.testing.assert_close(old, new)
