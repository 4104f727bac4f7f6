"""Experiments on a small scale, each run once for all tests that look at it."""

from dataclasses import replace
from functools import cache

import pytest

from clearformer.lab.catalogue import find_experiment
from clearformer.lab.conduct import alone
from clearformer.lab.experiment import Measurement, Trial

APART = 0.001  # what seeds differ by


@cache
def first_seed(name):
    """What an experiment measures for one seed, at the quick scale."""
    experiment = find_experiment(name)
    found = []
    for case in experiment.cases:
        trial = Trial(scale="quick", seed=0, case=case)
        with alone(0):
            found.append(Measurement(trial=trial, values=experiment.measure(trial)))
    return found


@pytest.fixture(scope="session")
def found():
    """By name: the measured numbers of the first seed, and what is concluded from them."""

    def look(name):
        measurements = first_seed(name)
        return measurements[0].values, find_experiment(name).conclude(measurements)

    return look


@pytest.fixture(scope="session")
def had_it_been():
    """The verdict that would follow if three seeds had measured these numbers: by case, laid over what was measured."""

    def conclude(name, numbers):
        measured = []
        for seed in range(3):
            for one in first_seed(name):
                given = {
                    key: value + APART * seed * (sum(map(ord, key + one.trial.case)) % 3)
                    for key, value in numbers.get(one.trial.case, {}).items()
                }
                trial = replace(one.trial, seed=seed)
                measured.append(Measurement(trial=trial, values={**one.values, **given}))
        return find_experiment(name).conclude(measured).verdict

    return conclude
