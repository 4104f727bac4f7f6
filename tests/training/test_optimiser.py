import pytest
import torch
from torch import nn

from clearformer.training.optimiser import MovingAverage, OptimiserConfig, average, make_optimiser


def small():
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(4, 5), nn.LayerNorm(5), nn.Linear(5, 2))


def train(model, optimiser, rate, steps=20):
    torch.manual_seed(4)
    for _ in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = rate
        model(torch.randn(8, 4)).pow(2).sum().backward()
        optimiser.step()
        optimiser.zero_grad()
    return [p.detach() for p in model.parameters()]


def test_it_is_torch_s_adam_with_the_paper_s_constants():
    ours, theirs = small(), small()
    config = OptimiserConfig()
    assert (config.beta1, config.beta2, config.eps, config.decay, config.clip) == (0.9, 0.98, 1e-9, 0.0, 0.0)
    one = train(ours, make_optimiser(ours, config), 0.01)
    other = train(theirs, torch.optim.Adam(theirs.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9), 0.01)
    for a, b in zip(one, other, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-6)


def test_adam_by_hand():
    """One weight at 1, gradient 2: the first step has m̂ = 2, v̂ = 4 and moves by the rate · 2/(2 + eps)."""
    model = nn.Linear(1, 1, bias=False)
    nn.init.ones_(model.weight)
    optimiser = make_optimiser(model, OptimiserConfig())
    optimiser.param_groups[0]["lr"] = 0.1
    model.weight.grad = torch.tensor([[2.0]])
    optimiser.step()
    assert model.weight.item() == pytest.approx(0.9, abs=1e-6)


def test_decay_pulls_matrices_only():
    model = small()
    before = [p.detach().clone() for p in model.parameters()]
    optimiser = make_optimiser(model, OptimiserConfig(decay=0.5))
    for group in optimiser.param_groups:
        group["lr"] = 0.1
    for p in model.parameters():
        p.grad = torch.zeros_like(p)
    optimiser.step()
    for old, new in zip(before, model.parameters(), strict=True):
        torch.testing.assert_close(new.detach(), old * 0.95 if old.dim() > 1 else old)


def test_frozen_parameters_are_left_out():
    model = small()
    model[0].weight.requires_grad_(False)
    optimiser = make_optimiser(model, OptimiserConfig())
    assert sum(len(group["params"]) for group in optimiser.param_groups) == 5


def test_the_average_follows_by_its_decay_and_faster_at_the_start():
    """At step 1 it keeps 2/11 of itself; later as much as its decay says."""
    model = nn.Linear(1, 1, bias=False)
    nn.init.zeros_(model.weight)
    ema = MovingAverage(model, 0.9)
    nn.init.ones_(model.weight)
    ema.update(model, 1)
    assert ema.weights["weight"].item() == pytest.approx(1 - 2 / 11)
    ema.weights["weight"].zero_()
    ema.update(model, 10_000)
    assert ema.weights["weight"].item() == pytest.approx(0.1)


def test_swapping_twice_is_nothing():
    model = small()
    ema = MovingAverage(model, 0.9)
    train(model, make_optimiser(model, OptimiserConfig()), 0.01)
    trained = [p.detach().clone() for p in model.parameters()]
    ema.swap(model)
    assert all(torch.equal(p, q) for p, q in zip(model.parameters(), small().parameters(), strict=True))
    ema.swap(model)
    assert all(torch.equal(p, q) for p, q in zip(model.parameters(), trained, strict=True))


def test_an_average_is_taken_over_by_name():
    model = small()
    ema = MovingAverage(model, 0.9)
    ema.put({name: torch.full_like(w, i) for i, (name, w) in reversed(list(enumerate(ema.weights.items())))})
    assert [w.flatten()[0].item() for w in ema.weights.values()] == list(range(6))


def test_averaging_checkpoints():
    """In float64: a float32 sum of 1e8 and three small numbers would lose the small ones."""
    values = [1e8, 3.0, 3.0, 2.0]
    found = average({"w": torch.tensor([value])} for value in values)
    assert found["w"].dtype == torch.float32
    assert found["w"].item() == torch.tensor(sum(values) / 4, dtype=torch.float64).float().item()
    weights = {"w": torch.randn(5)}
    assert torch.equal(average([weights])["w"], weights["w"])
    with pytest.raises(ValueError, match="nothing to average"):
        average([])
