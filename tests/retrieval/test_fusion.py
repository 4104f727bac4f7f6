"""Fusion of rankings: by ranks alone, and always in the same order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.retrieval.fusion import fuse_ranks, fuse_scores, rank


def test_scores_by_hand():
    assert fuse_scores(np.array([0.8, -0.2]), np.array([0.0, 1.0])) == pytest.approx([0.4, 0.4])


def test_ranks_by_hand():
    """Document 2 is first and second, 0 is second and first, 1 is third once."""
    fused = fuse_ranks([np.array([2, 0, 1]), np.array([0, 2])], 4)
    assert fused == pytest.approx([1 / 62 + 1 / 61, 1 / 63, 1 / 61 + 1 / 62, 0])
    assert rank(fused).tolist() == [0, 2, 1, 3]


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=30))
def test_equals_stay_in_order(scores):
    order = rank(np.array(scores)).tolist()
    assert order == sorted(range(len(scores)), key=lambda one: (-scores[one], one))


@given(st.permutations(range(6)), st.permutations(range(6)))
def test_only_ranks_count_and_being_better_in_both_is_better(first, second):
    fused = fuse_ranks([np.array(first), np.array(second)], 6)
    for one in range(6):
        for other in range(6):
            if first.index(one) < first.index(other) and second.index(one) < second.index(other):
                assert fused[one] > fused[other]
