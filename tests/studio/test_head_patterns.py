"""Heads that do one thing are named after it."""

import torch

from clearformer.studio.head_patterns import pattern


def shifted(offset, size=6):
    return torch.eye(size).roll(offset, dims=1)


def test_plain_habits_have_names():
    names = {"itself": torch.eye(6), "previous": shifted(-1), "next": shifted(1)}
    for name, weights in names.items():
        mixed = 0.9 * weights + 0.1 / 6
        assert pattern(mixed, same_sequence=True).name == name
    first = torch.full((6, 6), 0.02)
    first[:, 0] = 0.9
    assert pattern(first, same_sequence=True).name == "first"
    assert pattern(first.flip(1), same_sequence=True).name == "last"
    assert pattern(torch.full((6, 6), 1 / 6), same_sequence=True).name == "even"
    assert pattern(torch.rand(6, 6).pow(4).softmax(-1).pow(1), same_sequence=False).name in ("even", "mixed")


def test_entropy_is_a_share_of_the_largest_possible():
    assert pattern(torch.eye(5), same_sequence=True).entropy == 0
    assert abs(pattern(torch.full((5, 7), 1 / 7), same_sequence=False).entropy - 1) < 1e-6
    causal = torch.ones(5, 5).tril()
    assert abs(pattern(causal / causal.sum(-1, keepdim=True), same_sequence=True).entropy - 1) < 1e-6


def test_the_first_query_of_a_masked_layer_has_no_choice_and_does_not_count():
    weights = torch.tensor([[1.0, 0, 0], [0.1, 0.9, 0], [0.1, 0.1, 0.8]])
    assert pattern(weights, same_sequence=True).shares["first"] < 0.2


def test_across_two_sequences_there_is_no_previous_token():
    assert set(pattern(torch.eye(4), same_sequence=False).shares) == {"first", "last"}


def test_a_single_token_is_no_error():
    assert pattern(torch.ones(1, 1), same_sequence=True).entropy == 0
