"""The rule that makes verdicts of numbers."""

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clearformer.lab.bilingual import Bilingual
from clearformer.lab.verdicts import Check, judge, margin, number, spread

SAYS = Bilingual("a number", "一个数")


def check(*values, low=None, high=None):
    return Check(says=SAYS, values=values, low=low, high=high)


MET, NOT_MET, OPEN = check(2.0, 3.0, low=1), check(0.0, 0.5, low=1), check(0.0, 3.0, low=1)


@pytest.mark.parametrize(
    ("claims", "conditions", "verdict"),
    [
        ([MET], [], "holds"),
        ([MET, MET], [NOT_MET], "holds"),
        ([MET], [MET], "holds with a condition"),
        ([MET, NOT_MET], [MET], "does not hold"),
        ([OPEN, NOT_MET], [], "does not hold"),
        ([MET, OPEN], [], "cannot be settled at this scale"),
        ([MET], [OPEN], "cannot be settled at this scale"),
    ],
)
def test_the_verdict_follows_from_the_checks(claims, conditions, verdict):
    assert judge(claims, conditions) == verdict


def test_the_states_of_a_check():
    assert [one.state for one in (MET, NOT_MET, OPEN)] == ["met", "not met", "open"]
    assert check(1.0, low=1, high=1).state == "met"
    assert check(math.nan, low=0).state == "not met"
    assert check(-1.0, high=0.0).state == "met"


def test_a_check_that_could_not_fail_is_refused():
    with pytest.raises(ValueError, match="could not fail"):
        check(1.0)
    with pytest.raises(ValueError, match="could not fail"):
        check(low=1)
    with pytest.raises(ValueError, match="at least one check"):
        judge([])


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.floats(-1e9, 1e9), min_size=1), st.floats(-1e9, 1e9))
def test_a_bound_and_its_opposite_are_never_both_met(values, bound):
    above = check(*values, low=bound).state
    below = check(*values, high=bound).state
    assert (above, below) != ("not met", "not met")
    if above == below == "met":
        assert set(values) == {bound}


def test_groups_that_overlap_are_not_apart():
    assert margin([2.0, 3.0], [0.0, 1.0]) == 1
    assert margin([2.0, 3.0], [0.0, 2.5]) < 0


def test_numbers_are_readable():
    shown = [number(one) for one in (0, 0.04417, 22.6274, 3072.0, 1_050_000, 1.2e-7, -0.5, 3.2e12, math.nan)]
    assert shown == ["0", "0.04417", "22.63", "3,072", "1,050,000", "1.2e−7", "−0.5", "3.2e12", "–"]
    assert spread([1.0, 3.0]) == "2 (1 … 3)"
    assert spread([0.5, 0.5]) == "0.5"
    assert [check(1.0, low=1).bounds, check(1.0, high=0).bounds, check(1.0, low=0, high=2).bounds] == [
        "≥ 1",
        "≤ 0",
        "0 … 2",
    ]
