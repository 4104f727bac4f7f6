"""Accuracy with an interval that people can trust also for few examples."""

import math
import random

import pytest

from clearformer.evaluation.accuracy import confusion, score_classes, wilson


def test_accuracy_is_the_share_of_right_ones():
    scores = score_classes(list("aabb"), list("abbb"))
    assert (scores["accuracy"], scores["examples"]) == (0.75, 4)
    assert 0 < scores["accuracy_low"] < 0.75 < scores["accuracy_high"] < 1
    assert "Wilson" in scores["signature"]


@pytest.mark.parametrize(("right", "count"), [(0, 1), (1, 1), (0, 50), (50, 50), (9_873, 10_000)])
def test_an_interval_stays_inside_zero_and_one_and_holds_the_share(right, count):
    low, high = wilson(right, count)
    assert 0 <= low <= right / count <= high <= 1
    assert low < high


def test_wilson_by_hand():
    """8 of 10: the textbook's (0.490, 0.943)."""
    assert wilson(8, 10) == pytest.approx((0.490, 0.943), abs=5e-4)
    low, high = wilson(800, 1000)
    assert high - low == pytest.approx(2 * 1.96 * math.sqrt(0.8 * 0.2 / 1000), rel=0.01)  # many: the plain interval


def test_the_interval_holds_what_it_promises():
    """In about 95 of 100 repetitions the true share lies inside."""
    generator = random.Random(2017)
    inside = 0
    for _ in range(1000):
        low, high = wilson(sum(generator.random() < 0.9 for _ in range(60)), 60)
        inside += low <= 0.9 <= high
    assert 920 <= inside <= 980


def test_nothing_to_compare_is_refused():
    with pytest.raises(ValueError, match="0 classes cannot be compared with 0"):
        score_classes([], [])
    with pytest.raises(ValueError, match="1 classes cannot be compared with 2"):
        score_classes(["a"], ["a", "b"])


def test_confusion_has_a_row_for_each_true_class():
    assert confusion(list("aabb"), list("abbb"), ["a", "b"]) == [[1, 0], [1, 2]]
