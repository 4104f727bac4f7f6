"""The data plan: nothing lost, nothing above the ceiling, the same everywhere, resumable by arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.data.batching import BatchingConfig, DataPlan, Position

BUDGET = 64
length = st.integers(1, BUDGET)
corpora = st.lists(st.tuples(length, length), min_size=1, max_size=200).map(np.array)
seeds = st.integers(0, 2**40)


def plan_for(corpus, *, ranks=1, seed=0, **config):
    return DataPlan(
        corpus[:, 0], corpus[:, 1], config=BatchingConfig(**{"max_tokens": BUDGET, **config}), seed=seed, ranks=ranks
    )


def skewed_corpus(sentences=5000, longest=200):
    """Many short sentences and a long tail, the target side a little longer: what corpora look like."""
    generator = np.random.default_rng(7)
    source = np.clip(generator.lognormal(2.6, 0.7, sentences), 2, longest).astype(int)
    target = np.clip(source * generator.lognormal(0.1, 0.2, sentences), 2, longest).astype(int)
    return np.stack([source, target], axis=1)


@given(corpora, seeds, st.integers(0, 3))
def test_every_sentence_comes_exactly_once_per_epoch(corpus, seed, epoch):
    seen = np.concatenate(plan_for(corpus, seed=seed).batches(epoch))
    assert sorted(seen.tolist()) == list(range(len(corpus)))


@given(corpora, seeds, st.integers(1, 5), st.none() | st.integers(1, 9))
def test_no_batch_is_ever_above_the_ceiling(corpus, seed, ranks, max_sentences):
    plan = plan_for(corpus, seed=seed, ranks=ranks, max_sentences=max_sentences)
    for rank in range(ranks):
        for rows in plan.batches(0, rank):
            assert len(rows) * corpus[rows].max() <= BUDGET
            assert 1 <= len(rows) <= (max_sentences or len(corpus))


@given(corpora, seeds, st.integers(0, 3), st.integers(1, 6))
def test_ranks_have_equal_steps_and_together_see_everything_once(corpus, seed, epoch, ranks):
    plan = plan_for(corpus, seed=seed, ranks=ranks)
    shares = [plan.batches(epoch, rank) for rank in range(ranks)]
    assert {len(share) for share in shares} == {plan.steps_per_epoch}
    seen = np.concatenate([rows for share in shares for rows in share])
    assert set(seen.tolist()) == set(range(len(corpus)))
    if plan.repeated:  # the one exception: batches of one sentence each, in a number that the ranks do not divide
        assert all(len(rows) == 1 for share in shares for rows in share)
        assert len(seen) == len(corpus) + plan.repeated
        assert plan.repeated < ranks
    else:
        assert len(seen) == len(corpus)


def test_seven_equal_sentences_for_two_ranks_are_split_not_dropped():
    # Four of 16 tokens fill a batch, so 7 sentences make batches of 4 and 3: already even. For 3 ranks the 4 is cut.
    corpus = np.full((7, 2), 16)
    assert sorted(len(rows) for rank in range(2) for rows in plan_for(corpus, ranks=2).batches(0, rank)) == [3, 4]
    assert sorted(len(rows) for rank in range(3) for rows in plan_for(corpus, ranks=3).batches(0, rank)) == [2, 2, 3]


def test_one_sentence_can_still_be_trained_on_four_ranks():
    plan = plan_for(np.array([[5, 6]]), ranks=4)
    assert plan.repeated == 3
    assert [plan.batches(0, rank)[0].tolist() for rank in range(4)] == [[0]] * 4


@given(corpora, seeds, st.integers(0, 3))
def test_the_plan_is_a_function_of_its_inputs(corpus, seed, epoch):
    first, second = (plan_for(corpus.copy(), seed=seed).batches(epoch) for _ in range(2))
    assert [rows.tolist() for rows in first] == [rows.tolist() for rows in second]


def test_the_first_numbers_never_change():
    """A run may be resumed on another machine with another NumPy: these come from NumPy's frozen raw bit streams."""
    plan = plan_for(np.full((12, 2), 16), seed=11)
    assert [rows.tolist() for rows in plan.batches(2)] == [[10, 7, 0, 4], [1, 6, 11, 2], [8, 5, 3, 9]]


def test_every_epoch_has_other_batches_in_another_order():
    corpus = skewed_corpus(longest=60)
    plan = plan_for(corpus, max_tokens=512)
    first, second = plan.batches(0), plan.batches(1)
    assert len(first) == len(second)
    together = {frozenset(rows.tolist()) for rows in first} & {frozenset(rows.tolist()) for rows in second}
    assert len(together) < len(first) / 20  # companions change too, not only the order of the batches
    widths = [corpus[rows].max() for rows in first]
    assert abs(np.corrcoef(np.arange(len(widths)), widths)[0, 1]) < 0.2  # short and long batches are mixed


def test_another_seed_gives_another_order():
    corpus = skewed_corpus(500)
    one, other = (plan_for(corpus, seed=seed, max_tokens=512).batches(0) for seed in (1, 2))
    assert [rows.tolist() for rows in one] != [rows.tolist() for rows in other]


@given(corpora, seeds, st.integers(0, 40), st.integers(1, 3))
def test_resuming_equals_never_having_stopped(corpus, seed, stopped_at, ranks):
    plan = plan_for(corpus, seed=seed, ranks=ranks)
    epochs = range(2 + (stopped_at + 10) // plan.steps_per_epoch)
    uninterrupted = [rows.tolist() for epoch in epochs for rows in plan.batches(epoch, rank=ranks - 1)]
    resumed = plan_for(corpus, seed=seed, ranks=ranks)  # another process, which knows nothing but the step
    after = [resumed.at(step, rank=ranks - 1).tolist() for step in range(stopped_at, stopped_at + 10)]
    assert after == uninterrupted[stopped_at : stopped_at + 10]


def test_position_is_arithmetic():
    plan = plan_for(np.full((6, 2), 32))  # two a batch, three batches
    assert plan.steps_per_epoch == 3
    assert [plan.position(step) for step in (0, 2, 3, 3_000_001)] == [
        Position(0, 0),
        Position(0, 2),
        Position(1, 0),
        Position(1_000_000, 1),
    ]
    assert plan.at(5).tolist() == plan.batches(1)[2:][0].tolist()
    assert plan.at(3_000_001).tolist() == plan.batches(1_000_000)[1].tolist()


def padded_share(corpus, batches):
    padded = sum(len(rows) * int(corpus[rows].max(axis=0).sum()) for rows in batches)
    return 1 - corpus.sum() / padded


def test_padding_is_a_fraction_of_what_an_unsorted_plan_wastes():
    corpus = skewed_corpus()
    plan = plan_for(corpus, max_tokens=2048)
    shuffled = np.random.default_rng(0).permutation(len(corpus))
    unsorted = np.array_split(shuffled, plan.steps_per_epoch)
    assert plan.waste() == pytest.approx(padded_share(corpus, plan.batches(0)))
    assert plan.waste() < 0.12 < 0.5 < padded_share(corpus, unsorted)


def test_batches_are_nearly_full():
    corpus = skewed_corpus()
    plan = plan_for(corpus, max_tokens=2048)
    assert plan.steps_per_epoch < 1.1 * corpus.max(axis=1).sum() / 2048


@pytest.mark.parametrize("ranks", [1, 2])
def test_longest_first_meets_the_worst_batch_on_every_rank_at_once(ranks):
    corpus = skewed_corpus()
    plan = plan_for(corpus, ranks=ranks, max_tokens=2048, longest_first=True)
    shares = [plan.batches(0, rank) for rank in range(ranks)]
    attention = [[len(rows) * int(corpus[rows].max()) ** 2 for rows in share] for share in shares]
    worst_later = max(max(costs[1:]) for costs in attention)
    assert all(costs[0] >= worst_later for costs in attention)
    ordinary = plan_for(corpus, ranks=ranks, max_tokens=2048)
    assert [r.tolist() for r in plan.batches(1)] == [r.tolist() for r in ordinary.batches(1)]  # later epochs as ever
    seen = np.concatenate([rows for share in shares for rows in share])
    assert sorted(seen.tolist()) == list(range(len(corpus)))


def test_one_side_alone_is_enough_for_language_models():
    plan = DataPlan([4, 4, 2, 8], config=BatchingConfig(max_tokens=8), seed=0)
    assert sorted(np.concatenate(plan.batches(0)).tolist()) == [0, 1, 2, 3]
    assert plan.steps_per_epoch == 3  # 8 alone, 4 with 4, 2 alone


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ([], [], "no sentence"),
        ([3, 4], [3], "do not pair up"),
        ([3, 0], [3, 3], "Sentence 1 has length 0"),
        ([3, 65, 66], [3, 4, 5], "Sentence 1 has 65 tokens but a batch holds 64"),
        ([3, 4], [64, 99], "Sentence 1 has 99 tokens"),
    ],
)
def test_what_cannot_be_planned_is_refused_with_its_index(source, target, message):
    with pytest.raises(ValueError, match=message):
        DataPlan(source, target, config=BatchingConfig(max_tokens=64), seed=0)


@pytest.mark.parametrize("wrong", [{"max_tokens": 0}, {"max_tokens": 8, "max_sentences": 0}])
def test_a_budget_for_nothing_is_refused(wrong):
    with pytest.raises(ValueError, match="at least one"):
        BatchingConfig(**wrong)


def test_ranks_and_steps_that_do_not_exist_are_refused():
    plan = plan_for(np.array([[5, 6]]), ranks=2)
    with pytest.raises(ValueError, match="Rank 2 is not in this plan"):
        plan.batches(0, rank=2)
    with pytest.raises(ValueError, match="Step -1"):
        plan.position(-1)
    with pytest.raises(ValueError, match="0 ranks"):
        plan_for(np.array([[5, 6]]), ranks=0)
