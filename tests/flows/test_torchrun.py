"""torchrun makes a run distributed; a rank that dies is started again, and nobody can tell afterwards."""

import os
import signal
import subprocess
import sys
import time

import pytest

from clearformer.run.recipe import read_recipe
from clearformer.run.train import train
from clearformer.training.metrics_log import read_records
from flows import killing
from flows.numbers import write_recipe

CHANGES = ("training.steps=12", "training.save_every=4", "training.validate_every=6")


def torchrun(folder, out, changes=CHANGES):
    """Two ranks on this machine; one restart is allowed, and goes on with whatever the folder holds."""
    out.mkdir()
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "--max-restarts=1"]
    command += ["-m", "clearformer", "train", str(folder / "numbers.toml"), *changes, "--out", str(out), "--resume"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def ranks_of(agent):
    """The process ids of the workers, in no order."""
    children = subprocess.run(["pgrep", "-P", str(agent.pid)], capture_output=True, text=True)
    return [int(line) for line in children.stdout.split()]


@pytest.mark.slow
def test_a_rank_killed_and_restarted_by_torchrun_leaves_no_trace(tmp_path):
    write_recipe(tmp_path)
    whole = torchrun(tmp_path, tmp_path / "whole")
    output, _ = whole.communicate(timeout=240)
    assert whole.returncode == 0, output
    expected = killing.result(tmp_path / "whole")
    assert [record["step"] for record in expected["metrics.jsonl"] if record["kind"] == "train"] == list(range(1, 13))

    out = tmp_path / "killed"
    agent = torchrun(tmp_path, out)
    while not killing.logged("train", 7)(out, 0):
        assert agent.poll() is None, agent.communicate()[0]
        time.sleep(0.002)
    os.kill(ranks_of(agent)[-1], signal.SIGKILL)
    try:
        output, _ = agent.communicate(timeout=240)
    finally:
        agent.kill()
    assert agent.returncode == 0, output
    assert killing.differences(killing.result(out), expected) == []


@pytest.mark.slow
def test_two_ranks_say_of_a_model_what_one_says(tmp_path):
    """They share the development set out: the scores are those of all of it, and the samples stand in order."""
    path = write_recipe(tmp_path)
    learn = ["training.steps=60", "training.batch_tokens=1500", "training.validate_every=60", "training.save_every=60"]
    train(read_recipe(path, learn), tmp_path / "trained", base=tmp_path)
    still = (  # begin with the trained model and learn nothing, so that both look at the same weights
        "model={from = 'trained'}",
        "training.steps=2",
        "training.validate_every=2",
        "training.schedule={kind = 'constant', peak = 1e-30, warmup = 1}",
        "scoring.examples=7",
    )
    train(read_recipe(path, still), tmp_path / "one", base=tmp_path)
    agent = torchrun(tmp_path, tmp_path / "two", still)
    output, _ = agent.communicate(timeout=240)
    assert agent.returncode == 0, output
    one, two = (
        next(record for record in read_records(tmp_path / out / "metrics.jsonl") if record["kind"] == "validation")
        for out in ("one", "two")
    )
    assert one["bleu"] > 0
    assert two["bleu"] == one["bleu"]
    assert {name: value for name, value in two.items() if name.startswith("sample")} == {
        name: value for name, value in one.items() if name.startswith("sample")
    }
    assert two["loss"] == pytest.approx(one["loss"], rel=1e-6)
    assert two["perplexity"] == pytest.approx(one["perplexity"], rel=1e-6)
