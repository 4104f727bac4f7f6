"""Rows that go on from batch to batch: every row reads its stretch in order, and nothing depends on the past."""

from itertools import pairwise

import numpy as np
import pytest

from clearformer.data.batching import BatchingConfig
from clearformer.data.row_plan import RowPlan


def plan(tokens=1000, length=16, budget=64, seed=1, **config):
    return RowPlan(tokens, length, config=BatchingConfig(max_tokens=budget, **config), seed=seed)


@pytest.mark.parametrize("tokens", [33, 130, 1000, 1001, 4097])
@pytest.mark.parametrize("epoch", [0, 1, 7])
def test_every_row_reads_its_own_stretch_in_order(tokens, epoch):
    made = plan(tokens)
    batches = made.batches(epoch)
    assert len(batches) == made.steps_per_epoch >= 2
    assert all(np.array_equal(after, before + 16) for before, after in pairwise(batches))
    predicted = sorted(int(first) + 1 + place for batch in batches for first in batch for place in range(16))
    assert predicted == list(range(predicted[0], predicted[0] + len(predicted)))  # all different, none left out between
    assert predicted[0] >= 1
    assert predicted[-1] < tokens


def test_what_one_epoch_leaves_out_another_reads():
    made = plan(1040)  # 15 tokens more than whole segments
    epochs = [np.concatenate(made.batches(epoch)) for epoch in range(60)]
    assert {int(first.min()) for first in epochs} == set(range(16))
    assert len(epochs[0]) == 64


def test_a_plan_is_a_pure_function_of_its_seed():
    starts = {seed: [plan(1040, seed=seed).batches(epoch)[0][0] for epoch in range(5)] for seed in (1, 2)}
    again = plan(1040)
    assert [again.batches(epoch)[0][0] for epoch in (4, 3, 2, 1, 0)] == starts[1][::-1]
    assert starts[1] != starts[2]
    assert again.position(2 * again.steps_per_epoch + 3) == (2, 3)


def test_batches_keep_to_their_budget_and_a_short_text_has_fewer_rows():
    assert plan(1000).rows == 4
    assert plan(1000, max_sentences=3).rows == 3
    assert plan(40).rows == 1


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"tokens": 32}, "the text has 32 tokens, too few for a row to go on after 16 of them"),
        ({"budget": 15}, r"no room for a row of 16; raise training\.batch_tokens"),
    ],
)
def test_what_cannot_be_read_in_order_is_refused(changes, told):
    with pytest.raises(ValueError, match=told):
        plan(**changes)


def test_several_processes_are_refused():
    with pytest.raises(ValueError, match="stay in one process; train without torchrun"):
        RowPlan(1000, 16, config=BatchingConfig(max_tokens=64), seed=1, ranks=2)
    with pytest.raises(ValueError, match="Rank 1 is not in this plan"):
        plan().batches(0, 1)
    with pytest.raises(ValueError, match="Step -1"):
        plan().position(-1)
