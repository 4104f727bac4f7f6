"""A split: nothing of what is held out is met in training, whatever repeats, and the same split every time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.data.hold_out import DEV, TEST, TRAIN, Split, find_families, split_pairs, write_parts
from clearformer.data.readers.parallel import Pair


def keys(numbers):
    return np.array(numbers, dtype=np.int64)


def families_by_walking(sources, targets):
    """The slow way: follow every shared key until nobody new turns up."""
    family = [None] * len(sources)
    for start in range(len(sources)):
        waiting = [start] if family[start] is None else []
        while waiting:
            row = waiting.pop()
            if family[row] is None:
                family[row] = start
                waiting += [o for o in range(len(sources)) if sources[o] == sources[row] or targets[o] == targets[row]]
    return family


def test_relatives_of_relatives_are_one_family():
    """1 shares a source with 0, 2 a target with 1, 3 nothing with anybody."""
    assert find_families(keys([7, 7, 8, 9]), keys([1, 2, 2, 3])).tolist() == [0, 0, 0, 3]


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=40))
def test_families_are_those_that_walking_finds(pairs):
    sources, targets = [s for s, _ in pairs], [t for _, t in pairs]
    assert find_families(keys(sources), keys(targets)).tolist() == families_by_walking(sources, targets)


def test_a_long_chain_is_one_family():
    """Row n shares its source with n - 1 and its target with n + 1: every row is related to every other."""
    rows = np.arange(10_000)
    assert set(find_families((rows + 1) // 2, rows // 2).tolist()) == {0}


@given(st.integers(0, 2**32), st.integers(100, 600), st.integers(30, 400))
def test_no_sentence_is_in_two_parts(seed, pairs, distinct):
    draw = np.random.default_rng(seed)
    sources = np.concatenate([np.arange(pairs), draw.integers(pairs, pairs + distinct, 50)])
    targets = np.concatenate([np.arange(pairs), draw.integers(pairs, pairs + distinct, 50)])
    part = split_pairs(sources, targets, held_out=20).part
    for side in (sources, targets):
        for one, other in ((TRAIN, DEV), (TRAIN, TEST), (DEV, TEST)):
            assert not set(side[part == one]) & set(side[part == other])


def test_parts_have_the_size_that_was_asked_for():
    split = split_pairs(np.arange(5_000), np.arange(5_000), held_out=250)
    assert [split.count(part) for part in (TRAIN, DEV, TEST)] == [4_500, 250, 250]


def test_the_same_corpus_is_split_in_the_same_way_and_another_seed_in_another():
    rows = np.arange(1_000)
    first = split_pairs(rows, rows, held_out=50).part
    assert np.array_equal(
        first, split_pairs(rows * 31 + 7, rows * 17, held_out=50).part
    )  # keys differ, pattern does not
    assert not np.array_equal(first, split_pairs(rows, rows, held_out=50, seed=2).part)


def test_a_sentence_in_many_guises_stays_in_training():
    """Half of the pairs have one source; a test set of them would test one sentence."""
    sources = np.concatenate([np.zeros(500, dtype=np.int64), np.arange(1, 501)])
    split = split_pairs(sources, np.arange(1_000), held_out=50)
    assert set(split.part[:500].tolist()) == {TRAIN}
    assert split.count(TEST) == 50


def test_a_corpus_of_one_family_cannot_be_split():
    with pytest.raises(ValueError, match=r"these 200 pairs cannot be split: .* only 0 of 20 could be held out"):
        split_pairs(np.zeros(200, dtype=np.int64), np.arange(200), held_out=20)


def test_parts_are_written_as_plain_files_in_the_order_of_the_corpus(tmp_path):
    pairs = [Pair(f"s{n}", f"t\u2028{n}", n) for n in range(1, 6)]
    split = Split(part=np.array([TRAIN, TEST, TRAIN, DEV, TRAIN], dtype=np.uint8))
    write_parts(pairs, split, tmp_path / "data", suffixes=("en", "de"))
    assert (tmp_path / "data" / "train.en").read_text() == "s1\ns3\ns5\n"
    assert (tmp_path / "data" / "test.de").read_text() == "t\u20282\n"
    assert (tmp_path / "data" / "dev.en").read_text() == "s4\n"


def test_a_corpus_that_changed_since_leaves_nothing_behind(tmp_path):
    split = Split(part=np.zeros(3, dtype=np.uint8))
    with pytest.raises(ValueError, match="zip"):
        write_parts([Pair("a", "b", 1)], split, tmp_path / "data", suffixes=("en", "de"))
    assert not list(tmp_path.iterdir())
