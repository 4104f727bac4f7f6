"""Correlations by hand and by what has to hold for any numbers."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.evaluation.correlation import score_numbers


def test_by_hand():
    """Ranks with a tie: 1, 2.5, 2.5, 4 against 1, 2, 3, 4."""
    scores = score_numbers([1.0, 2.0, 2.0, 9.0], [10.0, 20.0, 30.0, 40.0])
    assert scores["spearman"] == pytest.approx(0.9486833)
    assert scores["pearson"] == pytest.approx(0.8381164)
    assert score_numbers([1.0, 2.0], [3.0, 5.0])["mean_error"] == pytest.approx(2.5)


def test_the_order_alone_decides_for_spearman():
    draw = random.Random(1)
    wanted = [draw.uniform(0, 5) for _ in range(50)]
    scores = score_numbers([value**3 for value in wanted], wanted, interval=False)
    assert scores["spearman"] == pytest.approx(1.0)
    assert scores["pearson"] < 1.0
    assert score_numbers([-value for value in wanted], wanted, interval=False)["pearson"] == pytest.approx(-1.0)


@given(st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3)), min_size=1, max_size=20))
def test_correlations_lie_between_minus_one_and_one(pairs):
    scores = score_numbers([a for a, _ in pairs], [b for _, b in pairs], interval=False)
    assert -1.0001 <= scores["spearman"] <= 1.0001
    assert -1.0001 <= scores["pearson"] <= 1.0001


def test_the_interval_holds_the_score():
    draw = random.Random(2)
    wanted = [draw.uniform(0, 5) for _ in range(80)]
    scores = score_numbers([value + draw.gauss(0, 1) for value in wanted], wanted)
    assert scores["spearman_low"] < scores["spearman"] < scores["spearman_high"]
    assert scores["examples"] == 80


def test_nothing_varies_nothing_correlates():
    assert score_numbers([1.0, 1.0], [1.0, 2.0], interval=False)["pearson"] == 0.0
    with pytest.raises(ValueError, match="1 numbers cannot be compared with 0"):
        score_numbers([1.0], [])
