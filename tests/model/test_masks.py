"""Masks: one meaning (True = may look), written out by hand where they are small enough to read."""

import pytest
import torch

from clearformer.model import masks


def picture(mask):
    """One row of text a query: x = may look."""
    return ["".join("x" if look else "." for look in row) for row in mask.tolist()]


def test_shapes_broadcast_to_scores():
    scores = torch.zeros(2, 4, 3, 5)  # B H T S
    keep, ids = torch.ones(2, 5, dtype=torch.bool), torch.zeros(2, 5, dtype=torch.long)
    assert masks.padding(keep).shape == (2, 1, 1, 5)
    assert masks.causal(3, 5).shape == (3, 5)
    assert masks.window(ids[:, :3], ids, left=1).shape == (2, 1, 3, 5)
    assert masks.packed(ids[:, :3], ids).shape == (2, 1, 3, 5)
    for mask in (masks.padding(keep), masks.causal(3, 5), masks.packed(ids[:, :3], ids)):
        assert mask.dtype == torch.bool
        assert torch.broadcast_shapes(mask.shape, scores.shape) == scores.shape


def test_padding_hides_keys_from_every_query():
    keep = torch.tensor([[True, True, False], [False, True, True]])
    assert picture(masks.padding(keep)[:, 0, 0]) == ["xx.", ".xx"]


def test_causal_hides_the_future():
    assert picture(masks.causal(4, 4)) == ["x...", "xx..", "xxx.", "xxxx"]


def test_causal_counts_from_the_end():
    """With a cache the queries are the last slots, so the last query sees everything."""
    assert picture(masks.causal(2, 5)) == ["xxxx.", "xxxxx"]
    assert picture(masks.causal(1, 3)) == ["xxx"]


def test_one_row_may_be_read_forward_beside_one_that_is_not():
    mask = masks.causal_rows(torch.tensor([True, False]), 3)
    assert mask.shape == (2, 1, 3, 3)
    assert picture(mask[0, 0]) == ["x..", "xx.", "xxx"]
    assert picture(mask[1, 0]) == ["xxx", "xxx", "xxx"]


def test_window_is_counted_in_positions():
    places = torch.arange(5)[None]
    assert picture(masks.window(places, places, left=1)[0, 0]) == ["x....", "xx...", ".xx..", "..xx.", "...xx"]
    assert picture(masks.window(places, places, left=1, right=1)[0, 0]) == ["xx...", "xxx..", ".xxx.", "..xxx", "...xx"]
    assert picture(masks.window(places[:, 3:], places, left=0)[0, 0]) == ["...x.", "....x"]


def test_a_window_without_end_is_the_causal_mask():
    places = torch.arange(6)[None]
    assert torch.equal(masks.window(places, places, left=6)[0, 0], masks.causal(6, 6))


def test_packed_sequences_do_not_see_one_another():
    segments = torch.tensor([[0, 0, 1, 1, 1]])
    assert picture(masks.packed(segments, segments)[0, 0]) == ["xx...", "xx...", "..xxx", "..xxx", "..xxx"]
    targets = torch.tensor([[0, 1, 1]])
    assert picture(masks.packed(targets, segments)[0, 0]) == ["xx...", "..xxx", "..xxx"]


def test_both_looks_only_where_all_allow():
    assert masks.both() is None
    assert masks.both(None, None) is None
    causal, keep = masks.causal(3, 3), masks.padding(torch.tensor([[True, False, True]]))
    assert masks.both(None, causal) is causal
    assert picture(masks.both(causal, None, keep)[0, 0]) == ["x..", "x..", "x.x"]


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.uint8])
def test_a_mask_of_another_type_is_refused(dtype):
    """0/1 and 0/-inf masks mean opposite things in different libraries, so neither is guessed at."""
    with pytest.raises(TypeError, match=f"must be boolean with True = may look, but has type {dtype}; compare"):
        masks.check(torch.ones(2, 3, dtype=dtype))
    with pytest.raises(TypeError, match="keep must be boolean"):
        masks.padding(torch.ones(2, 3, dtype=dtype))


def test_keep_must_be_batch_by_length():
    with pytest.raises(ValueError, match=r"keep must be batch × length, but has shape \(2, 3, 4\)"):
        masks.padding(torch.ones(2, 3, 4, dtype=torch.bool))
