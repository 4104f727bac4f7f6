"""Seconds of training."""

import math

import torch
from torch import nn

from clearformer.lab.small_training import SmallRun, train_small


def squared(model):
    x = torch.randn(16, 4)
    return (model(x) - x.sum(1, keepdim=True)).square().mean()


def test_it_learns():
    model = nn.Linear(4, 1)
    losses = train_small(model, squared, SmallRun(steps=200, peak=0.05))
    assert losses[-1] < 0.05 * losses[0]
    assert len(losses) == 200
    assert not model.training


def test_a_run_that_explodes_is_not_rescued():
    model = nn.Linear(4, 1)
    losses = train_small(model, lambda m: squared(m) * math.inf, SmallRun(steps=5))
    assert len(losses) == 5
    assert not any(map(math.isfinite, losses))
