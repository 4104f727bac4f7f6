"""Every task that trains: killed or stopped and resumed, its run ends with the bits of one that was left alone."""

import json
import signal
import time

import pytest

import clearformer as cf
from clearformer.run import train
from clearformer.run.recipe import read_recipe
from clearformer.tasks import all_tasks, find_task
from flows import killing
from flows.tiny_tasks import TINY

TRAINED = [task.name for task in all_tasks() if task.training is not None]
SHORT = ("training.steps=12", "training.save_every=4", "training.validate_every=6", "training.log_every=1")


@pytest.fixture(scope="module", params=TRAINED)
def folder(request, tmp_path_factory):
    """The data of a task with a recipe; a task that trains and has none here has no promise either."""
    folder = tmp_path_factory.mktemp(request.param)
    TINY[request.param](folder)
    return folder


@pytest.fixture(scope="module")
def whole(folder):
    """What a run that was left alone leaves behind."""
    out = folder / f"whole-{time.monotonic_ns()}"
    killing.finish(killing.start(folder, out, SHORT))
    return killing.result(out)


@pytest.mark.slow
def test_killed_and_resumed_a_run_ends_bit_equal(folder, whole, tmp_path):
    out = tmp_path / "killed"
    for moment in (killing.saving(0), killing.logged("train", 6), killing.saving(8), killing.saved(12)):
        process = killing.start(folder, out, SHORT)
        assert killing.kill_when(process, out, moment), "the run was over before it could be killed"
        killing.check_checkpoints(out)
    killing.finish(killing.start(folder, out, SHORT))
    assert killing.differences(killing.result(out), whole) == []


@pytest.mark.slow
def test_stopped_and_resumed_a_run_ends_bit_equal(folder, whole, tmp_path):
    out = tmp_path / "stopped"
    for step in (3, 7):
        process = killing.start(folder, out, SHORT)
        killing.signal_when(process, out, killing.logged("train", step), signal.SIGTERM)
        killing.finish(process, code=3)
        assert not (out / "model").exists()
    killing.finish(killing.start(folder, out, SHORT))
    assert killing.differences(killing.result(out), whole) == []


def test_the_folder_says_its_task_and_opens_as_that(folder, whole):
    described = json.loads(whole["model/config.json"])
    [path] = folder.glob("*.toml")
    assert described["task"] == read_recipe(path).task
    assert described["format"] == 2
    out = next(folder.glob("whole-*"))
    assert isinstance(cf.load(out), find_task(described["task"]).use)


def test_a_resumed_run_takes_the_same_data_or_none(folder, tmp_path):
    """Asked twice, it is refused twice; the shards of the first data stay."""
    [path] = folder.glob("*.toml")
    copy = tmp_path / "data"
    TINY[read_recipe(path).task](copy)
    [recipe_path] = copy.glob("*.toml")
    recipe = read_recipe(recipe_path, [*SHORT, "training.steps=2"])
    train.train(recipe, tmp_path / "out", base=copy)
    files = ("train.words", "train.figures", "prose.txt", "turns.jsonl", "mails.jsonl", "reviews.tsv", "names.conll")
    files = (*files, "digits.idx")
    for name in files:
        if (file := copy / name).exists():
            content = file.read_bytes()
            lines = content.splitlines(keepends=True)
            file.write_bytes(content[:-1] + b"\x00" if name == "digits.idx" else b"".join(lines[:-20]))
    if (file := copy / "questions.json").exists():
        file.write_bytes(file.read_bytes().replace(b"how many", b"how much"))
    for _ in range(2):
        with pytest.raises(ValueError, match=r"not the data that the run was begun with .* begin anew"):
            train.train(recipe, tmp_path / "out", base=copy, resume=True)


def test_missing_data_is_refused_before_anything_is_made(folder, tmp_path):
    [path] = folder.glob("*.toml")
    recipe = read_recipe(path, SHORT)
    with pytest.raises(ValueError, match=r"does not exist; data\.train"):
        train.train(recipe, tmp_path / "out", base=tmp_path / "elsewhere")
    assert list(tmp_path.iterdir()) == []
