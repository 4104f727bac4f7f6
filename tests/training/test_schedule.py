import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.training.schedule import ScheduleConfig, make_schedule


@given(st.integers(1, 200_000), st.sampled_from([128, 512, 1024]), st.sampled_from([1, 400, 4000, 8000]))
def test_by_default_it_is_the_paper_s_formula(step, dim, warmup):
    """lrate = d^-0.5 · min(step^-0.5, step · warmup^-1.5) (Vaswani et al., 2017, eq. 3)."""
    rate = make_schedule(ScheduleConfig(warmup=warmup), dim=dim, steps=100_000)(step)
    assert rate == pytest.approx(dim**-0.5 * min(step**-0.5, step * warmup**-1.5), rel=1e-12)


@pytest.mark.parametrize("kind", ["inverse-sqrt", "cosine", "linear", "constant"])
def test_every_kind_rises_in_a_line_to_its_peak_and_never_above(kind):
    rate = make_schedule(ScheduleConfig(kind=kind, peak=0.1, warmup=10), dim=1, steps=100)
    assert [rate(step) for step in range(1, 11)] == pytest.approx([0.01 * step for step in range(1, 11)])
    rates = [rate(step) for step in range(10, 151)]
    assert max(rates) == pytest.approx(0.1)
    assert all(one >= other for one, other in itertools.pairwise(rates))


def test_cosine_and_linear_end_at_their_floor_and_stay_there():
    for kind, half in (("cosine", 0.05 + 0.005), ("linear", 0.055)):
        rate = make_schedule(ScheduleConfig(kind=kind, peak=0.1, warmup=20, floor=0.01), dim=1, steps=120)
        assert rate(70) == pytest.approx(half)
        assert rate(120) == pytest.approx(0.01)
        assert rate(500) == pytest.approx(0.01)


def test_a_quarter_of_the_cosine():
    rate = make_schedule(ScheduleConfig(kind="cosine", peak=2.0, warmup=100), dim=1, steps=500)
    assert rate(200) == pytest.approx(1 + math.cos(math.pi / 4))


def test_a_run_shorter_than_its_warm_up_still_has_a_rate():
    rate = make_schedule(ScheduleConfig(kind="linear", peak=1.0, warmup=100), dim=1, steps=10)
    assert [rate(5), rate(100), rate(101)] == pytest.approx([0.05, 1.0, 0.0])


@given(st.integers(2, 100_000), st.sampled_from([0.02, 0.1, 0.5, 0.99]))
def test_a_warm_up_below_one_is_a_share_of_the_steps(steps, share):
    """So that it follows when the number of steps is changed; the peak of the 2017 formula follows with it."""
    counted = max(1, round(share * steps))
    assert ScheduleConfig(warmup=share).warmup_steps(steps) == counted
    one = make_schedule(ScheduleConfig(warmup=share), dim=64, steps=steps)
    other = make_schedule(ScheduleConfig(warmup=counted), dim=64, steps=steps)
    assert [one(step) for step in (1, counted, steps)] == [other(step) for step in (1, counted, steps)]


def test_a_warm_up_of_one_is_one_step_not_all_of_them():
    assert ScheduleConfig(warmup=1).warmup_steps(100) == ScheduleConfig(warmup=1.0).warmup_steps(100) == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [("warmup", 0), ("warmup", -0.1), ("warmup", 1.5), ("peak", 0.0), ("peak", -1.0), ("floor", -0.1)],
)
def test_rates_that_make_no_sense_are_named(name, value):
    with pytest.raises(ValueError, match=rf"schedule\.{name} must .*{value}"):
        ScheduleConfig(**{name: value})
