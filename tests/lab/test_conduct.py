"""Runs: deterministic, kept, and resumed where they were."""

from dataclasses import replace

import pytest
import torch

from clearformer.lab.catalogue import find_experiment
from clearformer.lab.conduct import alone, conduct, gather_measurements
from clearformer.lab.kept_results import KeptResults

UNTIMED = ("shared-projection", "padding-mask", "masked-scores", "softmax-axis", "position-waves")


@pytest.mark.parametrize("name", UNTIMED)
def test_the_same_seed_gives_the_same_numbers(name):
    experiment = find_experiment(name)
    torch.manual_seed(1)
    first = [one.values for one in gather_measurements(experiment, "quick")]
    torch.manual_seed(2)
    torch.rand(5)
    assert [one.values for one in gather_measurements(experiment, "quick")] == first
    assert first[0] != first[1] or name == "position-waves"


def test_nothing_outside_is_disturbed():
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    threads = torch.get_num_threads()
    with alone(7):
        assert torch.get_num_threads() == 1
        torch.rand(10)
    assert torch.get_num_threads() == threads
    assert torch.equal(torch.rand(2), expected)


def test_a_run_that_was_killed_resumes_and_measures_nothing_twice(tmp_path):
    experiment, kept, measured = find_experiment("softmax-axis"), KeptResults(tmp_path), []

    def killed(trial):
        if trial.seed == 3:
            raise KeyboardInterrupt
        measured.append(trial.seed)
        return experiment.measure(trial)

    killed.__module__ = experiment.measure.__module__
    with pytest.raises(KeyboardInterrupt):
        conduct(replace(experiment, measure=killed), "full", kept=kept)
    assert measured == [0, 1, 2]
    assert kept.last("softmax-axis") is None

    def counted(trial):
        measured.append(trial.seed)
        return experiment.measure(trial)

    counted.__module__ = experiment.measure.__module__
    resumed = gather_measurements(replace(experiment, measure=counted), "full", kept=kept)
    assert measured == [0, 1, 2, 3, 4]
    alone_ = gather_measurements(experiment, "full")
    assert [one.values for one in resumed] == [one.values for one in alone_]
    gather_measurements(replace(experiment, measure=counted), "full", kept=kept, again=True)
    assert measured == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]


def test_progress_and_the_last_verdict(tmp_path):
    experiment, kept, seen = find_experiment("softmax-axis"), KeptResults(tmp_path), []
    findings = conduct(experiment, "quick", kept=kept, watch=lambda done, total: seen.append((done, total)))
    assert seen == [(0, 2), (1, 2), (2, 2)]
    assert kept.last("softmax-axis").verdict == findings.verdict
