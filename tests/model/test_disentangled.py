"""Disentangled attention against the formula of its paper, worked out pair by pair."""

import math

import pytest
import torch
from torch import nn

from clearformer.model.attention import Attention
from clearformer.model.attention_context import AttentionContext
from clearformer.model.build import build
from clearformer.model.config import PositionConfig
from clearformer.model.disentangled import Disentangled, DistanceVectors
from model.specimens import configured

B, T, H, K, D = 2, 6, 2, 4, 8


def a_context():
    """Rows that differ, as with left padding."""
    places = torch.tensor([[0, 1, 2, 3, 4, 5], [0, 0, 0, 1, 2, 3]])
    return AttentionContext(places, places)


@pytest.mark.parametrize("projected", [False, True])
@pytest.mark.parametrize("sides", ["both", "queries", "keys"])
def test_a_score_by_the_formula(sides, projected):
    """(q·k + q·P_k(distance) + k·P_q(distance)) / √(3K), or two of the three (He et al., 2021, eq. 4)."""
    vectors = DistanceVectors(D, buckets=0, max_distance=3)
    own = (nn.Linear(D, H * K), nn.Linear(D, H * K)) if projected else None
    scheme = Disentangled(vectors, head_dim=K, sides=sides, projections=own)
    layer, context, noted = Attention(D, heads=H, position=scheme), a_context(), {}
    x = torch.randn(B, T, D)
    q, k = layer.as_queries(x), layer.as_keys(x)
    noted = scheme.match(q, k, context, layer.as_queries, layer.as_keys)
    as_query, as_key = own or (layer.q_proj, layer.k_proj)
    parts = {"both": 3, "queries": 2, "keys": 2}[sides]
    assert layer.scale == pytest.approx(1 / math.sqrt(K * parts))
    for b, h, t, s in ((0, 0, 0, 0), (0, 1, 0, 5), (0, 0, 5, 0), (1, 1, 2, 4), (1, 0, 5, 1)):
        row = vectors.table.weight[max(0, min(5, int(context.queries[b, t] - context.keys[b, s]) + 3))]
        by_query = q[b, h, t] @ as_key(row).view(H, K)[h] if sides != "keys" else 0
        by_key = k[b, h, s] @ as_query(row).view(H, K)[h] if sides != "queries" else 0
        torch.testing.assert_close(noted[b, h, t, s], (by_query + by_key) / math.sqrt(K * parts))


def test_near_distances_are_exact_and_far_ones_share_ranges():
    vectors = DistanceVectors(D, buckets=8, max_distance=20)
    distances = torch.arange(-30, 31)
    found = dict(zip(distances.tolist(), vectors.bucket(distances).tolist(), strict=True))
    assert all(found[near] == near for near in range(-4, 5))
    assert all(found[far] == -found[-far] for far in range(31))
    assert all(found[far] <= found[far + 1] <= found[far] + 1 for far in range(30))
    assert (found[5], found[19], found[20]) == (5, 7, 8)
    index = vectors.index(distances)
    assert (int(index.min()), int(index.max())) == (0, 15)


def test_one_table_for_all_layers_and_projections_for_each():
    for projected in (False, True):
        layers = build(configured("deberta", position=_place(projected=projected))).encoder.layers
        first, second = (layer.self_attn.position for layer in layers)
        assert first.vectors is second.vectors
        assert (first is second) is not projected


def test_a_table_of_places_may_be_added_to_the_embeddings():
    """As in DeBERTa 2, where position_biased_input is true."""
    assert (
        "encoder.front.position.table.weight" in build(configured("deberta", position=_place(added=True))).state_dict()
    )


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"buckets": 1}, "must be 0, or at least 2"),
        ({"buckets": 8, "max_distance": 5}, "at least 6 with 8 buckets"),
        ({"buckets": 0, "max_distance": 0}, "at least 1 with 0 buckets"),
    ],
)
def test_ranges_that_cannot_be(choices, message):
    with pytest.raises(ValueError, match=message):
        configured("deberta", position=_place(**choices))


def _place(**choices):
    return PositionConfig(kind="disentangled", **{"buckets": 8, "max_distance": 12} | choices)
