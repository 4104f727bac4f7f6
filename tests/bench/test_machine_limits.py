"""The limits are a contender like any other."""

import sys

from clearformer.bench import machine_limits
from clearformer.bench.race import Runner, take_turn


def test_both_limits_with_one_thread_and_with_all(monkeypatch):
    monkeypatch.setattr(machine_limits, "SIDE", 64)
    monkeypatch.setattr(machine_limits, "COPIED", 1 << 16)
    import torch

    before = torch.get_num_threads()
    try:
        readings = list(machine_limits.measure(2, seconds=0.001))
    finally:
        torch.set_num_threads(before)
    cases = [
        machine_limits.product_case(1),
        machine_limits.copy_case(1),
        machine_limits.product_case(2),
        machine_limits.copy_case(2),
    ]
    assert [reading["case"] for reading in readings] == cases
    assert all(reading["seconds"] > 0 for reading in readings)
    assert readings[0]["count"] == 2 * 64**3 / 1e9  # a product of n x n matrices takes n³ multiplications and additions
    assert readings[1]["count"] == 2 * (1 << 16) / 1e9  # a copy reads and writes


def test_they_speak_the_protocol():
    runner = Runner(name="limits", command=(sys.executable, "-m", machine_limits.__name__))
    turn = take_turn(runner, {"threads": 1, "seconds": 0.01}, limit=240)
    assert turn.failure is None
    assert [reading.unit for reading in turn.readings] == ["GFLOP", "GB"]
