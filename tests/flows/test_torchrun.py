"""torchrun makes a run distributed; a rank that dies is started again, and nobody can tell afterwards."""

import os
import signal
import subprocess
import sys
import time

import pytest

from flows import killing
from flows.numbers import write_recipe

CHANGES = ("training.steps=12", "training.save_every=4", "training.validate_every=6")


def torchrun(folder, out):
    """Two ranks on this machine; one restart is allowed, and goes on with whatever the folder holds."""
    out.mkdir()
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "--max-restarts=1"]
    command += ["-m", "clearformer", "train", str(folder / "numbers.toml"), *CHANGES, "--out", str(out), "--resume"]
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
