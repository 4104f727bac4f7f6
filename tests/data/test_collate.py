"""Collating: special tokens in their places, padding that can always be told from tokens, nothing lost in blocks."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from clearformer.data.collate import (
    UNTAGGED,
    PictureBatch,
    collate_blocks,
    collate_labelled,
    collate_pairs,
    collate_spans,
    collate_tagged,
    cut_blocks,
)

PAD, BOS, EOS = 0, 1, 2
ids = st.lists(st.integers(0, 65535), max_size=12).map(lambda values: np.array(values, dtype=np.uint16))


def test_a_batch_by_hand():
    batch = collate_pairs(
        [(np.array([5, 6, 7]), np.array([8])), (np.array([9]), np.array([10, 11]))], pad=PAD, bos=BOS, eos=EOS
    )
    assert batch.source.tolist() == [[5, 6, 7, EOS], [9, EOS, PAD, PAD]]
    assert batch.source_keep.tolist() == [[True, True, True, True], [True, True, False, False]]
    assert batch.target_in.tolist() == [[BOS, 8, PAD], [BOS, 10, 11]]
    assert batch.target_out.tolist() == [[8, EOS, PAD], [10, 11, EOS]]
    assert batch.target_keep.tolist() == [[True, True, False], [True, True, True]]
    assert len(batch) == 2


@given(st.lists(st.tuples(ids, ids), min_size=1, max_size=6))
def test_every_sentence_can_be_read_back(rows):
    """Also when a sentence holds the padding id itself: only the mask says what is real."""
    batch = collate_pairs(rows, pad=PAD, bos=BOS, eos=EOS)
    assert batch.source.dtype == batch.target_in.dtype == torch.int64
    assert batch.source_keep.dtype == batch.target_keep.dtype == torch.bool
    for row, (source, target) in enumerate(rows):
        assert batch.source[row][batch.source_keep[row]].tolist() == [*source, EOS]
        assert batch.target_in[row][batch.target_keep[row]].tolist() == [BOS, *target]
        assert batch.target_out[row][batch.target_keep[row]].tolist() == [*target, EOS]
    assert (batch.source[~batch.source_keep] == PAD).all()
    assert (batch.target_out[~batch.target_keep] == PAD).all()
    assert batch.target_keep.sum() == sum(len(target) + 1 for _, target in rows)


@given(st.lists(st.tuples(ids, ids), min_size=1, max_size=6))
def test_the_output_is_the_input_one_step_later(rows):
    batch = collate_pairs(rows, pad=PAD, bos=BOS, eos=EOS)
    both_real = batch.target_keep[:, 1:]
    assert torch.equal(batch.target_in[:, 1:][both_real], batch.target_out[:, :-1][both_real])


def test_a_batch_moves_to_a_device_as_a_whole():
    batch = collate_pairs([(np.array([5]), np.array([6]))], pad=PAD, bos=BOS, eos=EOS)
    moved = batch.to("meta")
    assert {moved.source.device.type, moved.target_keep.device.type} == {"meta"}
    assert len(moved) == len(batch) == 1
    assert batch.source.device.type == "cpu"


def test_blocks_by_hand():
    documents = [np.array([5, 6, 7]), np.array([8])]  # the stream is 5 6 7 eos 8 eos
    blocks = [block.tolist() for block in cut_blocks(documents, length=2, eos=EOS)]
    assert blocks == [[5, 6, 7], [7, EOS, 8], [8, EOS]]
    batch = collate_blocks([np.array(block) for block in blocks], pad=PAD)
    assert batch.inputs.tolist() == [[5, 6], [7, EOS], [8, PAD]]
    assert batch.targets.tolist() == [[6, 7], [EOS, 8], [EOS, PAD]]
    assert batch.keep.tolist() == [[True, True], [True, True], [True, False]]
    assert int(batch.keep.sum()) == 5


@given(st.lists(ids, max_size=8), st.integers(1, 10))
def test_every_token_of_the_stream_is_predicted_once(documents, length):
    stream = [int(token) for document in documents for token in [*document, EOS]]
    blocks = list(cut_blocks(documents, length=length, eos=EOS))
    assert [int(token) for block in blocks for token in block[1:]] == stream[1:]
    assert all(len(block) == length + 1 for block in blocks[:-1])
    assert all(2 <= len(block) <= length + 1 for block in blocks)


def test_blocks_are_cut_while_documents_still_arrive():
    """A corpus larger than memory: the first block is there before the second document is read."""

    def documents():
        yield np.arange(10)
        raise AssertionError("the second document was asked for")

    assert len(next(cut_blocks(documents(), length=4, eos=EOS))) == 5


def test_classes_stand_beside_their_texts():
    batch = collate_labelled([(np.array([101, 7, 102]), 1), (np.array([101, 102]), 0)], pad=PAD)
    assert batch.ids.tolist() == [[101, 7, 102], [101, 102, PAD]]
    assert batch.keep.tolist() == [[True, True, True], [True, True, False]]
    assert batch.labels.tolist() == [1, 0]


def test_nothing_is_not_a_batch():
    with pytest.raises(ValueError, match="no rows"):
        collate_pairs([], pad=PAD, bos=BOS, eos=EOS)
    with pytest.raises(ValueError, match="Row 1 of the batch is empty"):
        collate_labelled([(np.array([3]), 0), (np.array([], dtype=np.int64), 1)], pad=PAD)
    with pytest.raises(ValueError, match="at least 1"):
        next(cut_blocks([np.array([1])], length=0, eos=EOS))


def test_a_shared_out_batch_has_the_same_rows_in_less_space_and_equal_parts():
    generator = np.random.default_rng(4)
    rows = [
        (np.arange(5, 5 + n), np.arange(5, 5 + n + int(generator.integers(0, 4))))
        for n in generator.integers(8, 20, 90)
    ]
    batch = collate_pairs(rows, pad=0, bos=1, eos=2)
    parts = batch.split(3)
    assert len(parts) == 3
    assert sum(int(part.target_keep.sum()) for part in parts) == int(batch.target_keep.sum())
    read = sorted(
        tuple(row[keep].tolist()) for part in parts for row, keep in zip(part.source, part.source_keep, strict=True)
    )
    assert read == sorted(tuple(row[keep].tolist()) for row, keep in zip(batch.source, batch.source_keep, strict=True))
    assert sum(part.target_in.numel() for part in parts) < batch.target_in.numel()
    sizes = [int(part.source_keep.sum()) + int(part.target_keep.sum()) for part in parts]
    assert max(sizes) - min(sizes) <= 2 * (batch.source.size(1) + batch.target_in.size(1))


def test_a_batch_of_few_rows_has_few_parts_and_none_is_empty():
    rows = [(np.arange(5, 40), np.arange(5, 40)), (np.arange(5, 7), np.arange(5, 7))]
    parts = collate_pairs(rows, pad=0, bos=1, eos=2).split(4)
    assert 1 <= len(parts) <= 2
    assert sum(len(part.source) for part in parts) == 2
    assert [len(part.source) for part in collate_pairs(rows[:1], pad=0, bos=1, eos=2).split(4)] == [1]


def pairs(count):
    rows = [(np.arange(5, 6 + n % 7), np.arange(50 + n, 52 + n + n % 3)) for n in range(count)]
    return collate_pairs(rows, pad=0, bos=1, eos=2)


BATCHES = {
    "pairs": pairs,
    "blocks": lambda count: collate_blocks([np.arange(n, n + 2 + n % 3) for n in range(count)], pad=0),
    "labelled": lambda count: collate_labelled([(np.arange(n, n + 1 + n % 4), n) for n in range(count)], pad=0),
    "labelled pairs": lambda count: collate_labelled(
        [(np.arange(n, n + 1 + n % 4), n) for n in range(count)],
        pad=0,
        types=[np.ones(1 + n % 4) for n in range(count)],
    ),
    "pictures": lambda count: PictureBatch(
        pictures=torch.arange(count * 12.0).view(count, 3, 2, 2), labels=torch.arange(count)
    ),
}


def rows_of(batch):
    """Each row as what it says: its numbers under the masks, in an order that does not depend on padding."""
    given = {name: value for name, value in vars(batch).items() if isinstance(value, torch.Tensor)}
    masks = {name: value for name, value in given.items() if name.endswith("keep")}

    def real(name, row):
        owner = next((mask for mask in masks if mask.split("_")[0] == name.split("_")[0]), None)
        mask = masks.get("keep" if "keep" in masks and name != "labels" else owner)
        return tuple(
            (getattr(batch, name)[row] if mask is None else getattr(batch, name)[row][mask[row]]).flatten().tolist()
        )

    return [tuple(real(name, row) for name in given if name not in masks) for row in range(len(batch))]


@pytest.mark.parametrize("kind", BATCHES)
@given(rows=st.integers(1, 12), count=st.integers(1, 15))
def test_parts_of_any_batch_hold_every_row_once(kind, rows, count):
    """Whatever a task trains on can be shared out to threads: nothing is lost, nothing is learned twice."""
    batch = BATCHES[kind](rows)
    parts = batch.split(count)
    assert 1 <= len(parts) <= count
    assert all(type(part) is type(batch) and len(part) > 0 for part in parts)
    assert sorted(row for part in parts for row in rows_of(part)) == sorted(rows_of(batch))
    if kind != "pairs":  # those are cut by tokens
        assert max(map(len, parts)) - min(map(len, parts)) <= 1


@pytest.mark.parametrize("kind", BATCHES)
def test_some_rows_of_a_batch_are_a_batch(kind):
    """One row is what the memory of a run is measured with; any others may be asked for by number."""
    batch = BATCHES[kind](5)
    assert rows_of(batch.take(slice(0, 1))) == rows_of(batch)[:1]
    assert rows_of(batch.take(torch.tensor([4, 1]))) == [rows_of(batch)[4], rows_of(batch)[1]]
    assert len(batch) == 5


def test_tags_stand_beside_their_pieces_and_padding_has_none():
    rows = [(np.array([7, 8, 9]), np.array([UNTAGGED, 2, UNTAGGED])), (np.array([7]), np.array([1]))]
    batch = collate_tagged(rows, pad=0)
    assert batch.ids.tolist() == [[7, 8, 9], [7, 0, 0]]
    assert batch.tags.tolist() == [[UNTAGGED, 2, UNTAGGED], [1, UNTAGGED, UNTAGGED]]
    assert batch.keep.tolist() == [[True] * 3, [True, False, False]]
    assert [part.tags.tolist() for part in batch.split(2)] == [[row] for row in batch.tags.tolist()]


def test_spans_are_padded_and_point_to_the_same_tokens():
    rows = [
        (np.array([2, 7, 3, 8, 9, 3]), np.array([0, 0, 0, 1, 1, 1]), np.array([3, 4])),
        (np.array([2, 7, 3, 8]), np.array([0, 0, 0, 1]), np.array([0, 0])),
    ]
    batch = collate_spans(rows, pad=5)
    assert batch.ids.tolist()[1] == [2, 7, 3, 8, 5, 5]
    assert batch.types.tolist()[1] == [0, 0, 0, 1, 0, 0]
    assert batch.keep.tolist()[1] == [True] * 4 + [False] * 2
    assert batch.starts.tolist() == [3, 0]
    assert batch.ends.tolist() == [4, 0]
