"""The test run's own promise: what cannot run is deselected and named with its reason, never passed in silence."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SUITE = """
import random
import pytest

@pytest.mark.corpora
def test_needs_data(): ...

@pytest.mark.gpu
def test_needs_a_device(): ...

@pytest.mark.slow
def test_takes_long(): ...

@pytest.mark.soak
def test_takes_hours(): ...

@pytest.mark.parametrize("run", [1, 2])
def test_draws(run):
    print("drawn", random.random())
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    (tmp_path / "test_suite.py").write_text(SUITE)
    marks = "\n".join(f"    {mark}: x" for mark in ("corpora", "gpu", "slow", "soak", "network"))
    (tmp_path / "pytest.ini").write_text(f"[pytest]\nmarkers =\n{marks}\n")
    return tmp_path


def run(suite: Path, *options: str, **environment: str) -> str:
    inherited = {name: value for name, value in os.environ.items() if name != "CLEARFORMER_DATA"}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options, str(suite)]
    done = subprocess.run(command, env=inherited | environment, capture_output=True, text=True, cwd=suite, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_what_was_left_out_is_named_with_its_reason(suite):
    told = run(suite, "-m", "not soak", CUDA_VISIBLE_DEVICES="")
    assert "1 corpora: the environment variable CLEARFORMER_DATA does not point to the data sets" in told
    assert "1 gpu: there is no CUDA device" in told
    assert "1 soak: left out by -m 'not soak'" in told
    assert "3 passed, 3 deselected" in told


def test_two_processes_name_it_as_one_does(suite):
    told = run(suite, "-n", "2", "-m", "not soak", CUDA_VISIBLE_DEVICES="")
    assert "1 gpu: there is no CUDA device" in told
    assert "1 soak: left out by -m 'not soak'" in told
    assert "3 passed" in told


def test_data_sets_bring_their_tests_back(suite):
    told = run(suite, "-m", "corpora", CLEARFORMER_DATA=str(suite))
    assert "1 passed" in told
    assert "corpora:" not in told


def test_a_wrong_path_is_named(suite):
    told = run(suite, "-m", "corpora or slow", CLEARFORMER_DATA=str(suite / "nowhere"))
    assert f"1 corpora: CLEARFORMER_DATA points to {suite / 'nowhere'}, which is not a folder" in told


def test_every_test_draws_the_same_numbers(suite):
    drawn = {line for line in run(suite, "-s", "-k", "draws").splitlines() if "drawn" in line}
    assert len({line.split("drawn ")[1].rstrip(".") for line in drawn}) == 1
