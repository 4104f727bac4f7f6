"""Codes for places: each is filled exactly once, draws follow the logits, and nobody's company matters."""

import pytest
import torch

from clearformer.decoding.place_sampling import Gumbel, choose, fill_places, fill_plan, write_places

V, T, HIDDEN = 5, 9, 5


@pytest.mark.parametrize("places", [1, 2, 9, 49, 256])
def test_the_plan_fills_every_place_once_and_some_in_each_step(places):
    for steps in {1, 2, min(7, places), max(1, places - 1), places} & set(range(1, places + 1)):
        plan = fill_plan(places, steps)
        assert len(plan) == steps
        assert sum(plan) == places
        assert min(plan) >= 1
    assert fill_plan(49, 8)[0] < fill_plan(49, 8)[-1]  # few at first, when little is known


@pytest.mark.parametrize("steps", [0, 10])
def test_a_plan_that_cannot_be_is_refused(steps):
    with pytest.raises(ValueError, match=f"9 places are filled in 1 to 9 steps, not {steps}"):
        fill_plan(9, steps)


def fill(logits, seeds, steps, temperature=1.0):
    seen = []
    given = {"places": T, "hidden": HIDDEN, "steps": steps, "temperature": temperature, "seen": seen.append}
    return fill_places(logits, Gumbel(seeds), count=len(seeds), **given), seen


@pytest.mark.parametrize("steps", [1, 3, 9])
def test_a_place_that_is_filled_stays_and_none_is_left(steps):
    table = torch.randn(T, V, generator=torch.Generator().manual_seed(1))
    codes, seen = fill(lambda codes: table.expand(len(codes), T, V), [(1, 0), (1, 1)], steps)
    assert len(seen) == steps
    before = torch.full((2, T), HIDDEN)
    for after, filled in zip(seen, fill_plan(T, steps), strict=True):
        known = before != HIDDEN
        assert torch.equal(after[known], before[known])
        assert ((after != HIDDEN).sum(dim=1) - known.sum(dim=1)).tolist() == [filled, filled]
        before = after
    assert torch.equal(codes, before)
    assert (codes < V).all()


def test_the_surest_places_come_first_without_temperature():
    sure = torch.linspace(0, 8, T)
    logits = torch.zeros(T, V)
    logits[:, 2] = sure
    _, seen = fill(lambda codes: logits.expand(len(codes), T, V), [(1,)], 3, temperature=0)
    filled = fill_plan(T, 3)[0]
    assert (seen[0][0] != HIDDEN).tolist() == [False] * (T - filled) + [True] * filled
    assert set(seen[-1][0].tolist()) <= {0, 2}  # at 0 the first of equals


@pytest.mark.parametrize("way", ["fill", "write"])
def test_a_row_alone_is_the_row_in_company(way):
    table = torch.randn(T, V, generator=torch.Generator().manual_seed(1))

    def logits(codes):  # of every place, by what stands there and before it
        before = torch.cumsum(codes + 1, dim=1)
        return (table * (1 + before[..., None] % 3)).float()

    def paint(seeds):
        if way == "fill":
            return fill(logits, seeds, 4)[0]
        given = {"places": T, "start": HIDDEN, "temperature": 1.0, "seen": lambda codes: None}
        return write_places(logits, Gumbel(seeds), count=len(seeds), **given)

    together = paint([(1, 0, 0), (1, 0, 1), (1, 1, 0)])
    assert torch.equal(paint([(1, 0, 1)])[0], together[1])
    assert torch.equal(paint([(1, 1, 0), (1, 0, 0)]), together[[2, 0]])
    assert not torch.equal(together[0], together[1])


def test_from_left_to_right_each_place_sees_those_before_it():
    given = []

    def logits(codes):
        given.append(codes.clone())
        return torch.zeros(len(codes), T, V)

    seen = []
    codes = write_places(
        logits, Gumbel([(3,)]), count=1, places=T, start=HIDDEN, temperature=1.0, seen=lambda c: seen.append(c.clone())
    )
    assert len(given) == T
    for place, before in enumerate(given):
        assert before[0, 0] == HIDDEN
        assert torch.equal(before[0, 1 : place + 1], codes[0, :place])
    assert (seen[2][0, 3:] == HIDDEN).all()


def test_draws_have_the_probabilities_of_the_softmax():
    logits = torch.tensor([0.0, 1.0, 2.0])
    drawn = choose(logits.expand(30_000, 3), Gumbel([(1,)]).draw(30_000, 3)[0], 0.7)
    shares = torch.bincount(drawn, minlength=3) / 30_000
    torch.testing.assert_close(shares, (logits / 0.7).softmax(-1), atol=0.01, rtol=0)
    assert set(choose(logits.expand(9, 3), Gumbel([(1,)]).draw(9, 3)[0], 0).tolist()) == {2}
