"""Killed at any moment and resumed, a run ends with the bits of one that was left alone."""

import itertools
import random
import signal
import time

import pytest

from flows import killing
from flows.numbers import write_recipe

# 600 pairs in batches of 400 tokens: an epoch is nine micro-batches, so 24 steps of two pass the end of five of them.
EVERYTHING = (
    "training.accumulate=2",
    "objective.r_drop=1.0",
    "training.optimiser.ema=0.9",
    "training.average=2",
)
POISON = {26, 27, 28, 29, 30, 31, 32, 33, 34, 35}  # five bad updates of two after step 13: back to step 10


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("numbers")
    write_recipe(folder)
    return folder


def uninterrupted(folder, changes, poison=()):
    out = folder / f"whole-{time.monotonic_ns()}"
    killing.finish(killing.start(folder, out, changes, poison))
    return killing.result(out)


@pytest.mark.slow
def test_killed_where_it_hurts_most_and_resumed_a_run_ends_bit_equal(folder, tmp_path):
    whole = uninterrupted(folder, EVERYTHING, POISON)
    assert [record["kind"] for record in whole["metrics.jsonl"]].count("rollback") == 1
    moments = {
        "inside the first save": killing.saving(0),
        "while validating": killing.logged("train", 8),
        "after a rollback": killing.logged("rollback", 10),
        "inside a later save": killing.saving(16),
        "in the last step": killing.logged("train", 24),
        "between the last checkpoint and the finished model": killing.saved(24),
    }
    out = tmp_path / "killed"
    killing.kill_at_each(lambda: killing.start(folder, out, EVERYTHING, POISON), out, moments.values())
    killing.finish(killing.start(folder, out, EVERYTHING, POISON))
    assert killing.differences(killing.result(out), whole) == []


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_saves_and_leaves_and_what_follows_does_not_notice(folder, tmp_path, number):
    """The extra checkpoint of the interruption must not be averaged, rolled back to, or push another one out."""
    whole = uninterrupted(folder, EVERYTHING, POISON)
    out = tmp_path / "stopped"
    for step in (3, 12, 22):
        process = killing.start(folder, out, EVERYTHING, POISON)
        killing.signal_when(process, out, killing.logged("train", step), number)
        killing.finish(process, code=3)
        assert not (out / "model").exists()
    killing.finish(killing.start(folder, out, EVERYTHING, POISON))
    assert killing.differences(killing.result(out), whole) == []


def test_a_second_process_is_kept_out_of_a_run(folder, tmp_path):
    out = tmp_path / "busy"
    first = killing.start(folder, out, ["training.steps=100000"])
    killing.signal_when(first, out, killing.saved(0), 0)
    killing.finish(killing.start(folder, out), code=1)
    assert first.is_alive()
    first.kill()
    first.join()


VARIANTS = {
    "plain": ((), ()),
    "accumulation": (("training.accumulate=3",), ()),
    "two passes": (("objective.r_drop=1.0",), ()),
    "replicas": (("training.replicas=2",), ()),
    "averages": (("training.optimiser.ema=0.9", "training.average=3"), ()),
    "rollbacks": (("training.spike=50.0",), (6, 11, 12, 13, 14, 15, 19, 20)),
    "everything": (EVERYTHING, POISON),
    "epochs": (("training.batch_tokens=2000", "training.steps=40"), ()),  # two batches an epoch
}


@pytest.mark.soak
def test_fifty_kills(folder, tmp_path, capsys):
    """Ten runs are killed five times each: at least once inside a save, otherwise at any moment from start to end."""
    generator = random.Random(2017)
    kills, saves, unequal, steps = 0, 0, [], []
    for number, name in zip(range(10), itertools.cycle(VARIANTS)):
        changes, poison = VARIANTS[name]
        began = time.monotonic()
        whole = uninterrupted(folder, changes, poison)
        seconds = time.monotonic() - began
        out, hits, inside = tmp_path / f"run-{number}", 0, False
        while hits < 5:
            process = killing.start(folder, out, changes, poison)
            ahead = [record["step"] for record in whole["metrics.jsonl"] if record["step"] > killing.newest(out)]
            if hits == 4 or (not inside and generator.random() < 0.4):
                moment = killing.saving()
            elif hits == 0 or not ahead:
                moment = killing.after(generator.uniform(0, seconds))
            else:
                moment = killing.logged("train", generator.choice(ahead))
            hit = killing.kill_when(process, out, moment, late=generator.uniform(0, 0.01))
            torn = killing.saving()(out, process.pid)
            killing.check_checkpoints(out)
            if hit and (hits < 4 or inside or torn):  # the fifth waits until one has met a save
                hits, inside, saves = hits + 1, inside or torn, saves + torn
                steps.append(killing.newest(out))
            if not hit:  # it was over before its kill: judge it and begin another one
                unequal += killing.differences(killing.result(out), whole)
                out = tmp_path / f"run-{number}-{time.monotonic_ns()}"
        killing.finish(killing.start(folder, out, changes, poison))
        kills, unequal = kills + hits, unequal + killing.differences(killing.result(out), whole)
    with capsys.disabled():
        print(f"\n{kills} kills after checkpoints {sorted(steps)}, {saves} inside a save:")
        print(f"{len(unequal)} files not bit-equal, 0 torn checkpoints accepted")
    assert unequal == []
    assert saves >= 10
