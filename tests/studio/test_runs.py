"""Training runs, finished and in the middle."""

import json
import os
import shutil
import time

import pytest

from clearformer.foundation.locks import only_one
from clearformer.inference.translation_settings import usual_search
from clearformer.studio.runs import POINTS, Runs
from clearformer.training.metrics_log import METRICS


def record(folder, lines):
    folder.mkdir(parents=True)
    (folder / METRICS).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return folder


@pytest.fixture
def run(tmp_path):
    train = [
        {
            "step": step,
            "kind": "train",
            "loss": 5 / step,
            "learning_rate": 0.1,
            "count": 1000 * step,
            "time": 2.0 * step,
        }
        for step in range(1, 5)
    ]
    validation = {"step": 4, "kind": "validation", "loss": 2.5, "bleu": 12.0, "sample_0": "a → b", "sample_1": "c → d"}
    return record(tmp_path / "runs" / "mine", [*train, validation])


def test_curves_come_from_the_record(run):
    found = Runs([run.parent]).curves(0)
    assert (found["name"], found["step"], found["state"]) == ("mine", 4, "running")
    assert found["curves"]["train_loss"] == [(1, 5.0), (2, 2.5), (3, 5 / 3), (4, 1.25)]
    assert found["curves"]["bleu"] == [(4, 12.0)]
    assert found["curves"]["tokens_per_second"] == [(2, 500.0), (3, 500.0), (4, 500.0)]
    assert found["samples"] == [{"step": 4, "texts": ["a → b", "c → d"]}]


def test_a_run_may_be_named_itself_and_is_listed_once(run):
    assert [one["name"] for one in Runs([run, run.parent, run.parent / "nothing"]).list()] == ["mine"]


def test_a_line_that_is_being_written_and_values_that_were_not_finite_are_passed_over(run):
    with (run / METRICS).open("a") as file:
        file.write('{"step": 5, "kind": "train", "loss": null}\n{"step": 6, "ki')
    assert Runs([run]).curves(0)["curves"]["train_loss"][-1] == (4, 1.25)


def test_long_curves_are_thinned_and_keep_their_end(tmp_path):
    run = record(tmp_path / "long", [{"step": step, "kind": "train", "loss": 1.0} for step in range(5 * POINTS + 3)])
    points = Runs([run]).curves(0)["curves"]["train_loss"]
    assert len(points) <= POINTS + 1
    assert points[-1][0] == 5 * POINTS + 2


def test_what_is_not_there_is_said(run):
    with pytest.raises(ValueError, match="there is no run 7"):
        Runs([run]).curves(7)
    with pytest.raises(ValueError, match="no checkpoint of step 3"):
        Runs([run]).model_at(0, 3)


@pytest.mark.slow
def test_the_model_of_a_checkpoint_is_the_one_that_trained(tmp_path):
    """A real run of a few steps: its last checkpoint and its finished folder give the same numbers."""
    import torch

    import clearformer as cf
    from clearformer.studio.shown_model import ShownModel

    small = {"model.dim": 16, "model.hidden_dim": 16, "model.layers": 1, "model.decoder_layers": 1}
    steps = {"training.steps": 4, "training.save_every": 2, "training.validate_every": 4, "training.average": 1}
    changes = {**small, **steps, "scoring.examples": 2, "use.beam": 3}
    folder = cf.train("sample", changes, out=tmp_path / "run")
    then, now = Runs([tmp_path / "run"]).model_at(0, 4), ShownModel.open(folder)
    look = now.look("Two dogs.", ())
    assert torch.equal(then.run(look), now.run(look))
    shutil.rmtree(folder)  # as while it still runs: the model comes from its description and the checkpoint
    unfinished = Runs([tmp_path / "run"]).model_at(0, 4)
    assert torch.equal(unfinished.run(look), now.run(look))
    assert usual_search(unfinished.bundle.provenance).beam == 3


def finish(run):
    (run / "model").mkdir()
    (run / "model" / "config.json").write_text("{}", encoding="utf-8")


def state_of(run):
    [found] = Runs([run]).list()
    return found["state"]


def grow_old(run, seconds=3600):
    then = time.time() - seconds
    os.utime(run / METRICS, (then, then))


def test_a_run_is_running_stopped_or_finished(run):
    """While somebody trains, the lock is held; whoever only looks must not be taken for somebody who trains."""
    grow_old(run)
    with only_one(run / ".lock"):
        assert state_of(run) == "running"
    assert [state_of(run) for _ in range(3)] == ["stopped"] * 3
    finish(run)
    assert state_of(run) == "finished"
    with only_one(run / ".lock"):  # it was given more steps
        assert state_of(run) == "running"


def test_without_a_lock_to_ask_the_record_s_age_decides(run):
    assert state_of(run) == "running"
    grow_old(run)
    assert state_of(run) == "stopped"
    assert not (run / ".lock").exists()


def test_looking_at_a_run_does_not_keep_anybody_from_training(run):
    (run / ".lock").touch()
    state_of(run)
    with only_one(run / ".lock", wait_seconds=0):
        pass


def test_a_run_says_when_it_last_recorded_something(run):
    grow_old(run)
    [found] = Runs([run]).list()
    assert found["updated"] == pytest.approx((run / METRICS).stat().st_mtime)
