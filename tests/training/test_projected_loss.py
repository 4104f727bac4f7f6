"""The blockwise loss equals the readable one, in value and in every gradient, wherever the blocks are cut."""

import pytest
import torch
from torch.nn.functional import linear

from clearformer.training import projected_loss
from clearformer.training.loss import cross_entropy, r_drop
from clearformer.training.projected_loss import projected_cross_entropy, projected_r_drop

N, D, V = 37, 16, 101


def operands(*, bias: bool):
    torch.manual_seed(0)
    states, table = torch.randn(N, D, requires_grad=True), torch.randn(V, D, requires_grad=True)
    return states, table, torch.randn(V, requires_grad=True) if bias else None, torch.randint(0, V, (N,))


def differentiate(loss, *inputs):
    return torch.autograd.grad(3 * loss.total, [x for x in inputs if x is not None])


@pytest.mark.parametrize("rows", [1, 5, 36, 37, 1000])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("bias", [False, True])
def test_equal_to_the_readable_path(monkeypatch, rows, smoothing, bias):
    monkeypatch.setattr(projected_loss, "BLOCK", rows * V)
    states, table, offset, wanted = operands(bias=bias)
    fast = projected_cross_entropy(states, table, offset, wanted, smoothing)
    readable = cross_entropy(linear(states, table, offset), wanted, smoothing=smoothing)
    torch.testing.assert_close(fast.total, readable.total)
    torch.testing.assert_close(fast.metrics["nll"], readable.metrics["nll"])
    assert fast.count == readable.count
    gradients = differentiate(fast, states, table, offset)
    for ours, theirs in zip(gradients, differentiate(readable, states, table, offset), strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)


def test_extreme_logits_stay_finite():
    """A hopeless token has probability zero in float32; its loss is the distance, not infinity."""
    table = torch.tensor([[500.0], [-500.0], [0.0]])
    loss = projected_cross_entropy(torch.ones(1, 1), table, None, torch.tensor([1]), 0.0)
    torch.testing.assert_close(loss.metrics["nll"], torch.tensor(1000.0))


def test_without_gradients_none_are_made():
    states, table, offset, wanted = operands(bias=True)
    with torch.no_grad():
        loss = projected_cross_entropy(states, table, offset, wanted, 0.1)
    assert not loss.total.requires_grad
    torch.testing.assert_close(loss.total, cross_entropy(linear(states, table, offset), wanted, smoothing=0.1).total)


@pytest.mark.parametrize(("rows", "held"), [(1, 5), (5, 5), (4, 12), (1000, 1000)])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("bias", [False, True])
def test_mixed_precision_is_as_close_to_float32_as_the_readable_path(monkeypatch, rows, held, smoothing, bias):
    """Values equal those of autocast; gradients are rounded elsewhere, and no worse."""
    monkeypatch.setattr(projected_loss, "MIXED_BLOCK", rows * V)
    monkeypatch.setattr(projected_loss, "HELD", held * V)
    states, table, offset, wanted = operands(bias=bias)
    with torch.autocast("cpu", torch.bfloat16):
        fast = projected_cross_entropy(states, table, offset, wanted, smoothing)
        readable = cross_entropy(linear(states, table, offset), wanted, smoothing=smoothing)
    exact = cross_entropy(linear(states, table, offset), wanted, smoothing=smoothing)
    torch.testing.assert_close(fast.total, readable.total, rtol=1e-5, atol=0)
    torch.testing.assert_close(fast.metrics["nll"], readable.metrics["nll"], rtol=1e-5, atol=0)
    assert fast.count == readable.count
    wanted_gradients = differentiate(exact, states, table, offset)
    theirs = differentiate(readable, states, table, offset)
    for mine, other, true in zip(differentiate(fast, states, table, offset), theirs, wanted_gradients, strict=True):
        assert mine.dtype == true.dtype
        assert (mine - true).norm() <= 1.2 * (other - true).norm() + 1e-6
        assert (mine - true).norm() <= 0.02 * true.norm()


def test_mixed_precision_without_gradients_makes_none():
    states, table, offset, wanted = operands(bias=True)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        loss = projected_cross_entropy(states, table, offset, wanted, 0.1)
        readable = cross_entropy(linear(states, table, offset), wanted, smoothing=0.1)
    assert not loss.total.requires_grad
    torch.testing.assert_close(loss.total, readable.total, rtol=1e-5, atol=0)


@pytest.mark.parametrize("rows", [1, 5, 1000])
@pytest.mark.parametrize("bias", [False, True])
def test_r_drop_is_equal_to_the_readable_path(monkeypatch, rows, bias):
    monkeypatch.setattr(projected_loss, "BLOCK", 4 * rows * V)
    first, table, offset, wanted = operands(bias=bias)
    second = (first + 0.3 * torch.randn(N, D)).detach().requires_grad_()
    fast = projected_r_drop(first, second, table, offset, wanted, 0.1, 5.0)
    logits = (linear(states, table, offset) for states in (first, second))
    readable = r_drop(*logits, wanted, smoothing=0.1, weight=5.0)
    torch.testing.assert_close(fast.total, readable.total)
    torch.testing.assert_close(fast.metrics["nll"], readable.metrics["nll"])
    gradients = differentiate(fast, first, second, table, offset)
    for ours, theirs in zip(gradients, differentiate(readable, first, second, table, offset), strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)


def test_r_drop_without_gradients_makes_none():
    first, table, offset, wanted = operands(bias=False)
    with torch.no_grad():
        loss = projected_r_drop(first, first, table, offset, wanted, 0.1, 5.0)
    assert not loss.total.requires_grad
    alone = cross_entropy(linear(first, table), wanted, smoothing=0.1)
    torch.testing.assert_close(loss.total, alone.total)  # two equal passes do not diverge
