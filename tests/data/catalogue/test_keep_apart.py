"""Dividing pairs so that no sentence is in two parts, by a rule that gives the same parts for ever."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.data.catalogue.keep_apart import divide, shuffled

WORDS = st.sampled_from(["a", "A.", "b", "c!", "d", "e", "f", "g"])
PAIRS = st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=30).map(lambda rows: [f"{a}\t{b}" for a, b in rows])


def letters(sentence):
    return sentence.casefold().strip(".!")


@given(PAIRS, st.integers(0, 99))
def test_no_sentence_is_in_two_parts(lines, seed):
    parts = divide(lines, seed=seed, sizes=[1, 2])
    for side in (0, 1):
        said = {part: {letters(row.split("\t")[side]) for row in rows} for part, rows in parts.items()}
        assert not said["train"] & said["val"]
        assert not said["train"] & said["test"]
        assert not said["val"] & said["test"]


def test_a_group_has_one_pair_in_a_held_out_part_and_all_in_training():
    lines = ["Hi.\tSalut.", "hi\tBonjour.", "Hello.\tBonjour !", "Go.\tVa."]
    held = [divide(lines, seed=seed, sizes=[1, 0]) for seed in range(9)]
    assert {tuple(parts["val"]) for parts in held} == {("Hi.\tSalut.",), ("Go.\tVa.",)}
    assert {tuple(parts["train"]) for parts in held} == {("Go.\tVa.",), tuple(lines[:3])}


def test_a_third_size_is_in_no_part_and_training_keeps_its_order():
    lines = [f"{number}\tx{number}" for number in range(100)]
    parts = divide(lines, seed=7, sizes=[10, 20, 30])
    assert [len(parts[part]) for part in ("val", "test", "train")] == [10, 20, 40]
    assert parts["train"] == [line for line in lines if line in set(parts["train"])]
    assert parts["val"] == [lines[row] for row in shuffled(range(100), 7)[:10]]


def test_the_order_is_the_one_that_the_catalogued_files_were_made_with():
    assert "".join(shuffled("abcdefgh", 20240229)) == "bgcdhaef"


def test_a_line_with_one_sentence_is_no_pair():
    with pytest.raises(ValueError, match="line 2 has one column"):
        divide(["a\tb", "c"], seed=1, sizes=[1])
