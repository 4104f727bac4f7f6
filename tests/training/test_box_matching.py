"""Who answers for what: the cheapest assignment, against every possible one."""

from itertools import permutations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from clearformer.training.box_matching import ALPHA, FAR, GAMMA, CostConfig, Objects, costs, one_to_many, one_to_one


def brute_force(cost):
    """The least sum of all ways to give each object a query of its own. cost: T M."""
    queries, objects = cost.shape
    return min(
        sum(cost[query, place] for place, query in enumerate(way)) for way in permutations(range(queries), objects)
    )


@settings(deadline=None)
@given(st.integers(0, 1000), st.integers(1, 6), st.integers(0, 4))
def test_no_other_assignment_is_cheaper(seed, queries, objects):
    objects = min(objects, queries)
    cost = torch.from_numpy(np.random.default_rng(seed).normal(size=(1, queries, 5)))
    pairs = one_to_one(cost, [objects])
    assert sorted(pairs.objects.tolist()) == list(range(objects))
    assert len(set(pairs.queries.tolist())) == objects
    found = cost[pairs.pictures, pairs.queries, pairs.objects].sum()
    assert float(found) == pytest.approx(brute_force(cost[0, :, :objects].numpy()))


def test_the_greedy_way_would_be_dearer():
    """The query that is best for both objects goes to the one that has no other."""
    cost = torch.tensor([[[1.0, 2.0], [1.5, 100.0]]])
    pairs = one_to_one(cost, [2])
    assert sorted(zip(pairs.objects.tolist(), pairs.queries.tolist(), strict=True)) == [(0, 1), (1, 0)]


def test_more_objects_than_queries_and_pictures_without_any():
    cost = torch.rand(3, 2, 4)
    pairs = one_to_one(cost, [4, 0, 1])
    assert pairs.pictures.tolist() == [0, 0, 2]
    assert len(one_to_one(cost, [0, 0, 0]).queries) == 0
    assert len(one_to_many(cost, [0, 0, 0], 2).queries) == 0


def test_padding_is_never_matched():
    cost = torch.zeros(1, 4, 3)
    cost[:, :, 1:] = -50
    assert one_to_one(cost, [1]).objects.tolist() == [0]
    assert set(one_to_many(cost, [1], 3).objects.tolist()) == {0}


@settings(deadline=None)
@given(st.integers(0, 1000), st.integers(1, 4))
def test_several_queries_share_an_object_and_none_has_two(seed, most):
    cost = torch.from_numpy(np.random.default_rng(seed).normal(size=(1, 9, 3)))
    pairs = one_to_many(cost, [3], most)
    assert len(set(pairs.queries.tolist())) == len(pairs.queries)
    for number in range(3):
        assert (pairs.objects == number).sum() <= most
    for query, thing in zip(pairs.queries.tolist(), pairs.objects.tolist(), strict=True):
        wanted = [m for m in range(3) if query in cost[0, :, m].topk(most, largest=False).indices]
        assert thing == min(wanted, key=lambda m: float(cost[0, query, m]))
    assert all((cost[0, :, m].argmin() in pairs.queries) for m in range(3))


def test_far_queries_never_help():
    cost = torch.tensor([[[0.1], [FAR + 0.1], [FAR]]])
    assert one_to_many(cost, [1], 3).queries.tolist() == [0]


def test_the_cost_is_the_sum_of_its_parts():
    said, boxes = torch.tensor([[[0.4, -1.0]]]), torch.tensor([[[0.5, 0.5, 0.2, 0.2]]])
    objects = Objects(torch.tensor([[1]]), torch.tensor([[[0.6, 0.5, 0.2, 0.2]]]))
    p = 1 / (1 + np.exp(1.0))
    label = ALPHA * (1 - p) ** GAMMA * -np.log(p) - (1 - ALPHA) * p**GAMMA * -np.log(1 - p)
    # two boxes of 0.2 × 0.2, one half beside the other: a third is shared, and the hull has no room to spare
    expected = 3 * label + 7 * 0.1 - 11 * (1 / 3)
    found = costs(said, boxes, None, objects, CostConfig(label=3, distance=7, overlap=11))
    assert float(found) == pytest.approx(expected, rel=1e-4)


def test_a_query_costs_more_where_the_object_is_not():
    from clearformer.model.cell_boxes import cell_centres

    centres = cell_centres(4, torch.device("cpu"))
    said, boxes = torch.zeros(1, 16, 1), torch.full((1, 16, 4), 0.5)
    wide = Objects(torch.tensor([[0]]), torch.tensor([[[0.25, 0.25, 0.5, 0.5]]]))
    near = (costs(said, boxes, centres, wide, CostConfig()) < FAR / 2)[0, :, 0]
    assert near.nonzero()[:, 0].tolist() == [0, 1, 4, 5]
    small = Objects(torch.tensor([[0]]), torch.tensor([[[0.25, 0.25, 0.01, 0.01]]]))  # between four centres
    near = (costs(said, boxes, centres, small, CostConfig()) < FAR / 2)[0, :, 0]
    assert near.nonzero()[:, 0].tolist() == [0, 1, 4, 5]
