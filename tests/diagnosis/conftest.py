"""Runs that are ill on purpose, each in its own way, and one that is not. Each is trained once, in seconds."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from diagnosis.illness import Pairs, make_run, sentences

PAIRS = sentences(1_100)
TRAIN, DEV = PAIRS[:1_000], PAIRS[1_000:]
MakeRun = Callable[..., Path]


@pytest.fixture(scope="session")
def dev() -> Pairs:
    return DEV


@pytest.fixture(scope="session")
def run(tmp_path_factory: pytest.TempPathFactory) -> MakeRun:
    """Train on the made language, with whatever is to be wrong."""

    def make(pairs: Pairs = TRAIN, dev: Pairs = DEV, **changes: object) -> Path:
        return make_run(tmp_path_factory.mktemp("run"), pairs, dev, **changes)

    return make


@pytest.fixture(scope="session")
def healthy(run: MakeRun) -> Path:
    """Enough text, enough steps."""
    return run()


@pytest.fixture(scope="session")
def shuffled(run: MakeRun) -> Path:
    """Line n of one file does not belong to line n of the other."""
    targets = random.Random(3).sample([target for _, target in TRAIN], k=len(TRAIN))
    return run([(source, target) for (source, _), target in zip(TRAIN, targets, strict=True)], training__steps=100)


@pytest.fixture(scope="session")
def by_heart(run: MakeRun) -> Path:
    """Fifty sentences, two hundred times."""
    return run(TRAIN[:50], training__steps=200)


@pytest.fixture(scope="session")
def too_short_a_run(run: MakeRun) -> Path:
    return run(training__steps=5, training__schedule__warmup=2)


@pytest.fixture(scope="session")
def too_hot(run: MakeRun) -> Path:
    """A hundred times the learning rate, and it stays."""
    return run(training__steps=120, training__schedule={"kind": "constant", "peak": 1.0, "warmup": 40})


@pytest.fixture(scope="session")
def stuttering(run: MakeRun) -> Path:
    """Every word of the targets stands there four times."""
    pairs = [(source, " ".join(word for word in target.split() for _ in range(4))) for source, target in TRAIN]
    return run(pairs, training__steps=200)


@pytest.fixture(scope="session")
def cut(run: MakeRun) -> Path:
    """Of the targets only the first word is there."""
    return run([(source, target.split()[0]) for source, target in TRAIN], training__steps=100)


@pytest.fixture(scope="session")
def copying(run: MakeRun) -> Path:
    """Two in three targets are their sources, all of them too short for the doctor to call that a mistake."""
    short = [(source, target) for source, target in TRAIN if len(source) < 20]
    return run(
        [(source, target if n % 3 == 0 else source) for n, (source, target) in enumerate(short)], training__steps=250
    )
