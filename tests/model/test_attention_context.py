"""Where tokens stand: position ids that count real tokens, whatever lies between them."""

import pytest
import torch

from clearformer.model.attention_context import AttentionContext, Memory, check_keep, position_ids

HERE = torch.device("cpu")


def numbers(keep, start=0, segments=None):
    keep = torch.tensor(keep, dtype=torch.bool)
    return position_ids(keep.shape, keep, start, segments=segments, device=HERE).tolist()


def test_without_padding_one_row_stands_for_all():
    assert position_ids(torch.Size((3, 4)), None, device=HERE).tolist() == [[0, 1, 2, 3]]
    assert position_ids(torch.Size((3, 2)), None, 5, device=HERE).tolist() == [[5, 6]]


def test_only_real_tokens_are_counted():
    """Padding repeats a neighbour's number, so it can never run past the end of a table that the tokens fit in."""
    assert numbers([[1, 1, 1, 0, 0]]) == [[0, 1, 2, 2, 2]]
    assert numbers([[0, 0, 1, 1, 1]]) == [[0, 0, 0, 1, 2]]
    assert numbers([[1, 0, 1, 0, 1]]) == [[0, 0, 1, 1, 2]]
    assert numbers([[0, 0, 0]]) == [[0, 0, 0]]


def test_the_count_goes_on_where_each_row_stopped():
    assert numbers([[1, 1], [0, 1]], start=torch.tensor([[3], [7]])) == [[3, 4], [7, 7]]


def test_the_count_begins_anew_in_every_packed_segment():
    segments = torch.tensor([[0, 0, 0, 1, 1, 4, 4]])
    assert position_ids(segments.shape, None, segments=segments, device=HERE).tolist() == [[0, 1, 2, 0, 1, 0, 1]]
    assert numbers([[1, 0, 1, 0, 1, 1, 0]], segments=segments) == [[0, 0, 1, 0, 0, 0, 0]]


def test_keep_is_boolean_and_lies_over_the_input():
    with pytest.raises(TypeError, match=r"keep must be boolean with True = may look, but has type torch\.int64"):
        check_keep(torch.ones(2, 3, dtype=torch.long), torch.Size((2, 3)))
    with pytest.raises(ValueError, match=r"keep has shape \(2, 3\), but the input is \(2, 4\)"):
        position_ids(torch.Size((2, 4)), torch.ones(2, 3, dtype=torch.bool), device=HERE)


def test_distances_are_query_minus_key():
    context = AttentionContext(torch.tensor([[4, 5]]), torch.tensor([[3, 4, 5]]))
    assert context.distances().tolist() == [[[1, 0, -1], [2, 1, 0]]]
    assert context.fresh is context.keys


def test_what_all_layers_share_is_computed_once():
    context, computed = AttentionContext(torch.arange(2)[None], torch.arange(2)[None]), []
    for _ in range(3):
        assert context.once("a", lambda: computed.append(1) or "value") == "value"
    context.once("b", lambda: computed.append(2))
    assert computed == [1, 2]


@pytest.mark.parametrize("mask", [torch.zeros(2, 2), torch.ones(2, 2, dtype=torch.long)])
def test_a_mask_is_boolean(mask):
    with pytest.raises(TypeError, match="mask must be boolean"):
        AttentionContext(torch.arange(2)[None], torch.arange(2)[None], mask=mask)


def test_memory_rows_are_chosen_together():
    memory = Memory(torch.tensor([[[1.0]], [[2.0]]]), torch.tensor([[True], [False]]))
    chosen = memory.select(torch.tensor([1, 1, 0]))
    assert chosen.states.flatten().tolist() == [2, 2, 1]
    assert chosen.keep.flatten().tolist() == [False, False, True]
    assert chosen.segments is None


def test_memories_of_different_length_join_behind_padding():
    one = Memory(torch.ones(1, 2, 1))
    other = Memory(torch.ones(1, 3, 1), torch.tensor([[True, True, False]]))
    joined = one.join(other)
    assert joined.states.flatten(1).tolist() == [[1, 1, 0], [1, 1, 1]]
    assert joined.keep.tolist() == [[True, True, False], [True, True, False]]
    assert one.join(one).keep is None  # as long as each other and all real: nothing to hide
    with pytest.raises(ValueError, match="packed rows are for training"):
        one.join(Memory(torch.ones(1, 2, 1), segments=torch.zeros(1, 2, dtype=torch.long)))
