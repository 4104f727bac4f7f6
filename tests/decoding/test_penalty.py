import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from clearformer.decoding.penalty import Average, Gnmt, NoPenalty, penalised


def test_by_hand():
    assert Gnmt(0.6).divisor(1, ended=True) == 1.0  # (5 + 1) / 6
    assert Gnmt(1.0).divisor(7, ended=True) == 2.0  # (5 + 7) / 6
    assert Gnmt(0.6).divisor(7, ended=False) == pytest.approx(2**0.6)
    assert Average(1.0).divisor(8, ended=True) == 8.0
    assert Average(0.5).divisor(9, ended=True) == 3.0
    assert Average(0.0).divisor(9, ended=True) == NoPenalty().divisor(9, ended=True) == 1.0


def test_whether_the_end_counts():
    without = Average(1.0, count_eos=False)
    assert without.divisor(8, ended=True) == 7.0
    assert without.divisor(8, ended=False) == 8.0  # cut off: the last token is a word


def test_an_empty_hypothesis_that_counts_as_nothing_is_the_worst():
    totals = torch.tensor([-3.0, 0.0])
    nothing = Average(1.0, count_eos=False).divisor(1, ended=True)
    assert penalised(totals, nothing).tolist() == [-math.inf, -math.inf]
    assert penalised(totals, Average(0.0, count_eos=False).divisor(1, ended=True)).tolist() == totals.tolist()
    assert penalised(totals, Average(-1.0, count_eos=False).divisor(1, ended=True)).tolist() == [0, 0]


@given(alpha=st.floats(-3, 3), ended=st.booleans(), count_eos=st.booleans())
def test_divisors_are_monotone_in_the_length_as_the_stop_proof_needs(alpha, ended, count_eos):
    for penalty in (NoPenalty(), Gnmt(alpha), Average(alpha, count_eos=count_eos)):
        divisors = [penalty.divisor(scored, ended=ended) for scored in range(1, 40)]
        assert divisors in (sorted(divisors), sorted(divisors, reverse=True))
        assert min(divisors) >= 0


@pytest.mark.parametrize("penalty", [Gnmt, Average])
@pytest.mark.parametrize("alpha", [math.nan, math.inf])
def test_hostile_alpha(penalty, alpha):
    with pytest.raises(ValueError, match="must be a finite number"):
        penalty(alpha)
