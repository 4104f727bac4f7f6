"""Dropout with cheap random bits: the right share falls away, the mean stays, and nothing leaks between threads."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from clearformer.model.dropout import LEVELS, Dropout, drawing_from, drop


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.3, 0.5, 0.9])
def test_the_right_share_is_dropped_and_the_mean_stays(rate):
    torch.manual_seed(0)
    out = drop(torch.ones(1000, 1001), rate)  # a number of values that four does not divide
    share = float((out == 0).float().mean())
    spread = 6 * (rate * (1 - rate) / out.numel()) ** 0.5
    assert abs(share - rate) < spread + 1 / LEVELS
    assert abs(float(out.mean()) - 1) < spread / (1 - rate)
    assert len(out.unique()) == 2  # zero and one factor


def test_neighbouring_decisions_are_independent():
    """Four values share a draw of 64 bits: each of the four places must be as random as the others, and alone."""
    torch.manual_seed(0)
    dropped = (drop(torch.ones(400_000), 0.5) == 0).float().view(-1, 4)
    together = torch.corrcoef(dropped.mT)
    torch.testing.assert_close(dropped.mean(dim=0), torch.full((4,), 0.5), atol=0.01, rtol=0)
    torch.testing.assert_close(together, torch.eye(4), atol=0.02, rtol=0)


def test_the_gradient_passes_where_the_value_passed():
    x = torch.randn(64, 64, requires_grad=True)
    out = drop(x, 0.4)
    out.sum().backward()
    torch.testing.assert_close(x.grad, (out / x).detach())


def test_nothing_happens_in_evaluation_or_at_rate_zero():
    x = torch.randn(5, 7)
    assert Dropout(0.5).eval()(x) is x
    assert Dropout(0.0).train()(x) is x
    assert not Dropout(1.0).train()(x).any()


@pytest.mark.parametrize("rate", [-0.1, 1.5])
def test_a_rate_that_is_no_probability_is_refused(rate):
    with pytest.raises(ValueError, match=f"at most 1, not {rate}"):
        Dropout(rate)


def test_the_seed_decides():
    x = torch.ones(100)
    torch.manual_seed(3)
    first = drop(x, 0.5)
    second = drop(x, 0.5)
    torch.manual_seed(3)
    assert torch.equal(first, drop(x, 0.5))
    assert not torch.equal(first, second)


def test_threads_with_their_own_generators_do_not_disturb_one_another():
    def draw(seed):
        with drawing_from(torch.Generator().manual_seed(seed)):
            return [drop(torch.ones(10_001), 0.5) for _ in range(20)]

    alone = [draw(seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(draw, range(4)))
    for one, other in zip(alone, together, strict=True):
        assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))
