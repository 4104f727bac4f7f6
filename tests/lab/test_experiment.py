"""Trials, and numbers collected over seeds."""

from clearformer.lab.catalogue import find_experiment
from clearformer.lab.experiment import ONCE, Measurement, Seeds, Trial, column, mean_lists


def test_seeds_by_scale():
    assert list(Seeds(quick=2, full=3).at("full")) == [0, 1, 2]
    assert list(ONCE.at("quick")) == [0]
    assert len(find_experiment("shared-projection").trials("full")) == 5


def test_a_full_run_takes_at_least_three_seeds_wherever_chance_plays():
    from clearformer.lab.catalogue import list_experiments

    for experiment in list_experiments():
        assert experiment.seeds == ONCE or experiment.seeds.full >= 3, experiment.name


def test_numbers_over_seeds():
    measured = [
        Measurement(trial=Trial(scale="quick", seed=seed, case=case), values={"x": seed, "line": [seed, 1]})
        for case in ("a", "b")
        for seed in (0, 2)
    ]
    assert column(measured, "x") == [0, 2, 0, 2]
    assert column(measured, "x", "a") == [0, 2]
    assert mean_lists(measured, "line", "b") == [1, 1]
