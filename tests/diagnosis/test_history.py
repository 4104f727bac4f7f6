"""What records say: curves drawn by hand, each with one thing wrong, and a run that was really too hot."""

import dataclasses

import pytest

from clearformer.diagnosis.history import History, judge_history, read_history

FLAT = [(step, 2.0 + 3.0 * 0.9 ** (step / 20)) for step in range(50, 1050, 50)]  # falls, then flattens
GOOD = History(steps=1000, planned=1000, finished=True, passes=20.0, skipped=0, rollbacks=0, train=FLAT, dev=FLAT)


def names(**changes):
    return [finding.name for finding in judge_history(dataclasses.replace(GOOD, **changes))]


def test_a_run_that_went_well_has_nothing():
    assert names() == []


def test_a_curve_that_still_falls_wants_more_steps():
    falling = [(step, 6.0 - step / 250) for step in range(50, 1050, 50)]
    assert names(dev=falling) == ["too-few-steps"]
    assert names(dev=[], train=falling) == ["too-few-steps"]  # a run without validations is judged by its training


def test_the_slope_does_not_depend_on_how_often_one_looks():
    """Half a nat in a thousand steps is one per cent of five in the last tenth, looked at 4 times or 40."""
    for every in (25, 250):
        gentle = [(step, 5.5 - 0.5 * step / 1000) for step in range(every, 1001, every)]
        assert names(dev=gentle) == []


def test_a_batch_that_pulls_hard_is_a_spike_unless_it_is_at_the_beginning():
    calm = [1.0 + 0.01 * number for number in range(40)]
    assert names(gradients=calm) == []
    assert names(gradients=[900.0, *calm]) == []
    for wild in (90.0, float("inf"), float("nan")):
        assert names(gradients=[*calm, wild]) == ["gradient-spikes"]


def test_a_run_of_unknown_size_is_not_called_unread():
    assert names(passes=None) == []
    assert names(passes=0.5) == ["too-few-steps"]
    tiny = [(step, 0.001 * 0.5**place) for place, (step, _) in enumerate(FLAT)]
    assert names(dev=tiny, train=tiny) == []  # there is nothing left to fall


def test_a_run_that_was_stopped_says_so():
    [finding] = judge_history(dataclasses.replace(GOOD, finished=False, steps=400))
    assert (finding.name, finding.evidence["planned"]) == ("too-few-steps", 1000)
    assert "stopped at step 400 of 1,000" in finding.says


def test_an_early_stop_is_not_an_interruption():
    assert names(steps=400) == []


def test_text_that_was_not_read_once_is_too_few_steps():
    assert names(passes=0.4) == ["too-few-steps"]


def test_a_development_loss_that_rises_is_learning_by_heart():
    risen = [(step, loss + max(0, step - 500) / 500) for step, loss in FLAT]
    assert names(dev=risen) == ["overfits"]


def test_a_rising_training_loss_is_a_rate_too_high_and_nothing_else():
    """Everything rises, so nothing is learned by heart."""
    risen = [(step, loss + max(0, step - 500) / 100) for step, loss in FLAT]
    assert names(train=risen, dev=risen) == ["rate-too-high"]


@pytest.mark.parametrize("trouble", [{"skipped": 30}, {"rollbacks": 1}])
def test_updates_thrown_away_are_a_rate_too_high(trouble):
    assert names(**trouble) == ["rate-too-high"]
    assert names(skipped=3) == []  # three in a thousand happen


def test_a_run_that_was_really_too_hot(too_hot):
    [finding] = judge_history(read_history(too_hot, planned=120, tokens_in_corpus=5_000))
    assert finding.name == "rate-too-high"
    assert finding.evidence["loss_rise"] > 0.05


def test_a_folder_without_a_checkpoint_gets_a_sentence(tmp_path):
    with pytest.raises(ValueError, match="has no checkpoint"):
        read_history(tmp_path, planned=1, tokens_in_corpus=1)
