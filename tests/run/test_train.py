"""A whole run, from a recipe to a folder: what it refuses, keeps, logs, hands over, and lets change on resume."""

import logging
import re
import tomllib
from dataclasses import replace

import pytest
import torch

from clearformer.data.readers.parallel import CorpusError
from clearformer.folder import bundle
from clearformer.folder.preprocessing import Markers
from clearformer.foundation import storage
from clearformer.run import train
from clearformer.run.recipe import read_recipe
from clearformer.training.metrics_log import read_records
from flows.numbers import write_recipe

SHORT = ("training.steps=2", "training.save_every=1", "training.validate_every=2", "training.log_every=1")


@pytest.fixture
def recipe(tmp_path):
    return read_recipe(write_recipe(tmp_path), SHORT)


def test_training_files_of_unequal_length_stop_the_run_with_both_numbers(recipe, tmp_path):
    with (tmp_path / "train.words").open("a") as file:
        file.write("nine\n")
    with pytest.raises(CorpusError, match=r"601.*600|600.*601"):
        train.train(recipe, tmp_path / "out", base=tmp_path)
    assert not (tmp_path / "out" / "checkpoints").exists()


def test_what_cannot_be_trained_is_refused_before_anything_is_made(recipe, tmp_path):
    with pytest.raises(ValueError, match=r"the recipe's \[data\] section needs train_source"):
        train.train(replace(recipe, data=replace(recipe.data, train_source="")), tmp_path / "out", base=tmp_path)
    assert not (tmp_path / "out").exists()
    gone = replace(recipe, data=replace(recipe.data, train_source="gone.txt"))
    with pytest.raises(ValueError, match=r"gone\.txt does not exist; data\.train_source names it"):
        train.train(gone, tmp_path / "out", base=tmp_path)
    assert not (tmp_path / "out").exists()


def test_a_run_that_is_stopped_while_it_prepares_can_be_resumed_from_its_folder(recipe, tmp_path):
    """Preparing may take hours; the recipe is there before."""

    class Enough(Exception):  # noqa: N818 - it is not an error
        pass

    def stop(done, total):
        raise Enough

    with pytest.raises(Enough):
        train.train(recipe, tmp_path / "out", base=tmp_path, watchers=train.Watchers(prepare=stop))
    kept = read_recipe(tmp_path / "out" / "recipe.toml")
    assert train.train(kept, tmp_path / "out", base=tmp_path / "out", resume=True).exists()


def test_a_run_goes_on_with_the_same_text_or_not_at_all(recipe, tmp_path):
    train.train(recipe, tmp_path / "out", base=tmp_path)
    for side, line in (("words", "one"), ("figures", "1")):
        with (tmp_path / f"train.{side}").open("a") as file:
            file.write(f"{line}\n")
    with pytest.raises(ValueError, match=r"train\.words.*: not the data that the run was begun with .* begin anew"):
        train.train(recipe, tmp_path / "out", base=tmp_path, resume=True)


def test_a_damaged_vocabulary_is_named(recipe, tmp_path):
    train.train(recipe, tmp_path / "out", base=tmp_path)
    path = tmp_path / "out" / "vocabulary" / "joint.json"
    path.write_bytes(path.read_bytes()[:-2])
    with pytest.raises(storage.DamagedError, match=r"joint\.json is damaged"):
        train.train(recipe, tmp_path / "out", base=tmp_path, resume=True)


def test_a_run_says_what_memory_it_will_take_before_it_takes_it(recipe, tmp_path, caplog):
    with caplog.at_level(logging.INFO):
        train.train(recipe, tmp_path / "out", base=tmp_path)
    assert "memory: about" in caplog.text
    assert re.search(r"largest batch \d+\)", caplog.text)
    assert "MB for Python and PyTorch" in caplog.text
    assert "time: 2 steps, about" in caplog.text


def test_a_single_checkpoint_is_the_best_one_and_an_average_leaves_the_start_out(recipe, tmp_path):
    """Averaging five of a run that has saved three must not mix in the random weights of step 0."""
    many = replace(recipe, training=replace(recipe.training, average=5))
    model = train.train(many, tmp_path / "out", base=tmp_path)
    parts = [
        storage.read_tensors(tmp_path / "out" / "checkpoints" / f"{step:08d}" / "model.safetensors") for step in (1, 2)
    ]
    for name, weight in storage.read_tensors(model / "model.safetensors").items():
        assert torch.equal(weight, ((parts[0][name].double() + parts[1][name].double()) / 2).float())


def test_the_finished_model_of_a_run_with_an_average_is_that_average(recipe, tmp_path):
    smooth = replace(recipe, training=replace(recipe.training, optimiser=replace(recipe.training.optimiser, ema=0.9)))
    model = train.train(smooth, tmp_path / "out", base=tmp_path)
    best = tmp_path / "out" / "checkpoints" / "best"
    for name, weight in storage.read_tensors(best / "ema.safetensors").items():
        assert torch.equal(storage.read_tensors(model / "model.safetensors")[name], weight)


def test_every_step_is_logged_once(recipe, tmp_path):
    train.train(recipe, tmp_path / "out", base=tmp_path)
    records = read_records(tmp_path / "out" / "metrics.jsonl")
    assert [(record["kind"], record["step"]) for record in records] == [("train", 1), ("train", 2), ("validation", 2)]


def test_a_model_with_other_markers_cannot_go_on(recipe, tmp_path):
    first = train.train(recipe, tmp_path / "first", base=tmp_path)
    read = bundle.load(first)
    markers = Markers(before_source=(1,), after_source=(2,), start=1)
    made = replace(read, preprocessing=replace(read.preprocessing, markers=markers))
    bundle.save(made, tmp_path / "other")
    with pytest.raises(ValueError, match="puts other markers around its texts"):
        train.train(replace(recipe, model={"from": "other"}), tmp_path / "second", base=tmp_path)
    assert not (tmp_path / "second").exists()


def test_the_folder_of_a_run_says_how_it_was_made(recipe, tmp_path):
    """The recipe as resolved, which runs again from where it stands."""
    train.train(recipe, tmp_path / "out", base=tmp_path)
    resolved = tomllib.loads((tmp_path / "out" / "recipe.toml").read_text(encoding="utf-8"))
    assert resolved["task"] == "translation"
    assert resolved["data"]["train_source"] == "../train.words"
    again = read_recipe(tmp_path / "out" / "recipe.toml")
    assert replace(again, data=recipe.data) == recipe
    description = tmp_path / "out" / "description"
    assert (description / "config.json").read_bytes() == (tmp_path / "out" / "model" / "config.json").read_bytes()
