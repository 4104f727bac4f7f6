"""Run an experiment: every trial that is not known yet, one after the other, then the conclusion."""

import importlib
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from clearformer.lab.dependencies import dependency_key
from clearformer.lab.experiment import Experiment, Findings, Measurement, Scale, Trial
from clearformer.lab.kept_results import KeptResults

Watch = Callable[[int, int], None]  # trials done, trials in all


def conduct(
    experiment: Experiment,
    scale: Scale,
    *,
    kept: KeptResults | None = None,
    again: bool = False,
    watch: Watch | None = None,
) -> Findings:
    """What an experiment finds. kept: where measurements are looked up and kept; again: measure all of it anew."""
    return experiment.conclude(gather_measurements(experiment, scale, kept=kept, again=again, watch=watch))


def gather_measurements(
    experiment: Experiment,
    scale: Scale,
    *,
    kept: KeptResults | None = None,
    again: bool = False,
    watch: Watch | None = None,
) -> list[Measurement]:
    """One measurement per trial, from the folder or made now."""
    trials = experiment.trials(scale)
    key = "" if kept is None else dependency_key(_file_of(experiment))
    gathered = []
    for done, trial in enumerate(trials):
        if watch is not None:
            watch(done, len(trials))
        found = None if kept is None or again else kept.read(experiment.name, key, trial)
        if found is None:
            found = _measure(experiment, trial)
            if kept is not None:
                kept.write(experiment.name, key, found)
        gathered.append(found)
    if watch is not None:
        watch(len(trials), len(trials))
    if kept is not None:
        kept.end(experiment.name, experiment.conclude(gathered).verdict, gathered)
    return gathered


def is_kept(experiment: Experiment, scale: Scale, kept: KeptResults) -> bool:
    """Whether every trial was measured before, with this very code."""
    key = dependency_key(_file_of(experiment))
    return all(kept.read(experiment.name, key, trial) is not None for trial in experiment.trials(scale))


def _measure(experiment: Experiment, trial: Trial) -> Measurement:
    started = time.perf_counter()
    with alone(trial.seed):
        values = experiment.measure(trial)
    return Measurement(trial=trial, values=values, seconds=round(time.perf_counter() - started, 3))


@contextmanager
def alone(seed: int) -> Iterator[None]:
    """One thread and random numbers of one's own: the same seed gives the same bits, whatever ran before. What a
    training would tell of each step is not of interest here."""
    threads, quiet = torch.get_num_threads(), logging.root.manager.disable
    logging.disable(logging.INFO)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)
            logging.disable(quiet)


def _file_of(experiment: Experiment) -> Path:
    """Where an experiment is written."""
    module = importlib.import_module(experiment.measure.__module__)
    return Path(str(module.__file__))
