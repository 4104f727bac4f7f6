"""Stacks for questions about depth."""

import torch
from torch import nn

from clearformer.lab.stacks import Bypassed, gradients_by_layer, stack_of
from clearformer.model.layers import pre_norm


def test_a_bypassed_residual_loses_its_input():
    bypassed = Bypassed(nn.Identity())
    x = torch.randn(1, 2, 4)
    assert torch.equal(bypassed(x, lambda y: 3 * y), 3 * x)
    assert torch.equal(bypassed(x, torch.zeros_like), torch.zeros_like(x))


def test_one_gradient_per_layer():
    layers = stack_of(3, 16, lambda: pre_norm(lambda: nn.LayerNorm(16)))
    sizes, output = gradients_by_layer(layers, torch.randn(2, 5, 16))
    assert len(sizes) == 3
    assert min(sizes) > 0
    assert output.shape == (2, 5, 16)
    assert not output.requires_grad
