import dataclasses

import pytest

from clearformer.decoding.hypothesis import Hypothesis


def test_ended_says_whether_the_end_token_was_counted():
    cut = Hypothesis(tokens=(4, 5), log_prob=-3.0, score=-1.5, token_log_probs=(-1.0, -2.0))
    assert not cut.ended
    assert dataclasses.replace(cut, token_log_probs=(-1.0, -2.0, -0.5)).ended


def test_a_result_cannot_be_changed_by_accident():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Hypothesis(tokens=(), log_prob=0.0, score=0.0, token_log_probs=()).score = 1.0
