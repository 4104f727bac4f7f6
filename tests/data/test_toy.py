"""Toy tasks: the right answer, the same examples from the same seed, and lengths that tell the truth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.data.batching import BatchingConfig, DataPlan
from clearformer.data.toy import TASKS, ToyPairs, ToyTask

seeds = st.integers(0, 2**40)


@pytest.mark.parametrize(
    ("name", "answer"),
    [("copy", [3, 1, 2, 1]), ("reverse", [1, 2, 1, 3]), ("sort", [1, 1, 2, 3]), ("parity", [1])],
)
def test_the_answers_by_hand(name, answer):
    assert TASKS[name](np.array([3, 1, 2, 1])).tolist() == answer


@given(st.sampled_from(sorted(TASKS)), seeds, st.integers(2, 50), st.integers(1, 9), st.integers(0, 9))
def test_examples_stay_inside_what_the_task_says(name, seed, symbols, min_len, extra):
    task = ToyTask(name=name, symbols=symbols, min_len=min_len, max_len=min_len + extra)
    pairs = ToyPairs(task, count=20, seed=seed)
    source_lengths, target_lengths = pairs.lengths()
    for index in range(len(pairs)):
        source, target = pairs[index]
        assert task.min_len <= len(source) <= task.max_len
        assert (len(source) + 1, len(target) + 1) == (source_lengths[index], target_lengths[index])
        for side in (source, target):
            assert side.min() >= task.first_symbol
            assert side.max() < task.vocab_size


@given(seeds)
def test_a_seed_is_the_data(seed):
    task = ToyTask(name="reverse")
    some, more = ToyPairs(task, count=5, seed=seed), ToyPairs(task, count=50, seed=seed)
    assert all(some[i][0].tolist() == more[i][0].tolist() for i in range(5))
    other = ToyPairs(task, count=50, seed=seed + 1)
    assert [more[i][0].tolist() for i in range(50)] != [other[i][0].tolist() for i in range(50)]


def test_all_lengths_and_symbols_occur():
    task = ToyTask(name="copy", symbols=5, min_len=2, max_len=6)
    pairs = ToyPairs(task, count=500, seed=0)
    assert {len(pairs[i][0]) for i in range(500)} == {2, 3, 4, 5, 6}
    assert {int(symbol) for i in range(500) for symbol in pairs[i][0]} == {4, 5, 6, 7, 8}


def test_toy_pairs_go_into_a_data_plan():
    pairs = ToyPairs(ToyTask(name="parity"), count=100, seed=3)
    plan = DataPlan(*pairs.lengths(), config=BatchingConfig(max_tokens=64), seed=0)
    assert sum(map(len, plan.batches(0))) == 100


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"name": "translate"}, "no toy task 'translate': choose one of copy, reverse"),
        ({"name": "copy", "symbols": 1}, "at least 2"),
        ({"name": "copy", "min_len": 5, "max_len": 4}, "Lengths from 5 to 4"),
        ({"name": "copy", "min_len": 0}, "Lengths from 0"),
    ],
)
def test_tasks_that_make_no_sense_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        ToyTask(**wrong)
