"""Replicas: rows shared out to threads give the gradients of the whole batch, and the same bits every time."""

import pytest
import torch
from torch import nn

from clearformer.model.dropout import Dropout
from clearformer.training.replicas import Replicas, count_replicas


def make() -> nn.Module:
    torch.manual_seed(0)
    shared = nn.Linear(8, 8)
    return nn.Sequential(shared, nn.ReLU(), Dropout(0.3), shared, nn.Linear(8, 1, bias=False)).train()


def learn(model, x):
    loss = model(x).square().sum()
    loss.backward()
    return {"loss": float(loss.detach()), "count": float(len(x))}


def gradients(model):
    return [p.grad.clone() for p in model.parameters()]


def test_parts_add_up_to_the_whole_batch():
    model, x = make(), torch.randn(10, 8)
    model[2].rate = 0.0
    total = learn(model, x)["loss"]
    whole = gradients(model)
    model.zero_grad()
    parts = Replicas(model, 3).learn([x[0::3], x[1::3], x[2::3]], [1, 2, 3], learn)
    torch.testing.assert_close(sum(part["loss"] for part in parts), total)
    assert sum(part["count"] for part in parts) == 10
    for ours, theirs in zip(gradients(model), whole, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_a_run_is_repeatable_to_the_bit():
    def run():
        model, x = make(), torch.randn(64, 8, generator=torch.Generator().manual_seed(5))
        replicas, optimiser = Replicas(model, 4), torch.optim.SGD(model.parameters(), lr=0.01)
        for step in range(20):
            replicas.learn([x[replica::4] for replica in range(4)], [4 * step + replica for replica in range(4)], learn)
            optimiser.step()
            optimiser.zero_grad()
        return [p.detach().clone() for p in model.parameters()]

    for one, other in zip(run(), run(), strict=True):
        assert torch.equal(one, other)


def test_lanes_follow_weights_that_are_replaced():
    """Loading a checkpoint may give a parameter other memory: the twins look again at every step."""
    model, x = make(), torch.ones(2, 8)
    replicas = Replicas(model, 2)
    model[4].weight.data = torch.zeros(1, 8)
    assert [part["loss"] for part in replicas.learn([x, x], [1, 1], learn)] == [0.0, 0.0]


def test_fewer_parts_than_lanes():
    model, x = make(), torch.ones(1, 8)
    assert len(Replicas(model, 3).learn([x], [7], learn)) == 1


def test_an_error_in_a_lane_reaches_the_caller():
    def fail(model, x):
        raise FloatingPointError("replica on fire")

    with pytest.raises(FloatingPointError, match="replica on fire"):
        Replicas(make(), 2).learn([torch.ones(1, 8)] * 2, [1, 2], fail)


def test_how_many_lanes():
    assert count_replicas(1, 4096) == 1
    assert count_replicas(2, 4096) == 2
    assert count_replicas(16, 4096) == 8  # smaller parts are not worth a thread
    assert count_replicas(2, 300) == 1
    assert count_replicas(8, 4096, ranks=2) == 1
