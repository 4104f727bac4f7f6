"""A model that learns while it is scored: a copy of it does, by steps that are bounded and go back."""

import pytest
import torch
from torch import nn

from clearformer.inference.dynamic_evaluation import LARGEST, DynamicModel


def plain():
    torch.manual_seed(0)
    return nn.Linear(4, 3)


def loss_of(model, scale=1.0):
    return scale * model(torch.ones(1, 4)).square().sum()


def test_it_learns_and_the_model_itself_does_not():
    model = plain().requires_grad_(False)  # as a folder opens it, or not: the copy learns
    kept = [weight.clone() for weight in model.parameters()]
    dynamic = DynamicModel(model, rate=0.01, decay=0.0)
    before = float(loss_of(dynamic.model).detach())
    dynamic.learn(loss_of(dynamic.model))
    assert float(loss_of(dynamic.model).detach()) < before
    assert all(torch.equal(weight, old) for weight, old in zip(model.parameters(), kept, strict=True))
    assert not any(weight.requires_grad or weight.grad is not None for weight in model.parameters())


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_a_step_does_not_depend_on_how_large_gradients_are(scale):
    """One rate suits all models: a loss in other units moves the weights just as far."""
    moved = []
    for unit in (1.0, scale):
        dynamic = DynamicModel(plain(), rate=0.01, decay=0.0)
        for _ in range(3):
            dynamic.learn(loss_of(dynamic.model, unit))
        moved.append(torch.cat([weight.detach().flatten() for weight in dynamic.model.parameters()]))
    torch.testing.assert_close(*moved, rtol=1e-4, atol=1e-6)


def test_one_surprising_stretch_moves_no_weight_far():
    model = plain()
    dynamic = DynamicModel(model, rate=0.01, decay=0.0)
    for scale in (1.0,) * 30 + (1e6,):
        before = [weight.detach().clone() for weight in dynamic.model.parameters()]
        dynamic.learn(loss_of(dynamic.model, scale))
    for old, new in zip(before, dynamic.model.parameters(), strict=True):
        assert float((new.detach() - old).abs().max()) <= 0.01 * LARGEST + 1e-6


def test_without_a_rate_nothing_moves_and_decay_alone_leads_back():
    model = plain()
    still = DynamicModel(model, rate=0.0, decay=0.5)
    still.learn(loss_of(still.model))
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), still.model.parameters(), strict=True))
    away = DynamicModel(model, rate=0.01, decay=0.0)
    away.learn(loss_of(away.model))
    away.rate, away.decay = 0.0, 1.0
    away.learn(loss_of(away.model))
    for old, new in zip(model.parameters(), away.model.parameters(), strict=True):
        torch.testing.assert_close(old, new)
