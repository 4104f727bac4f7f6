"""From two text files and a recipe to a translator, the whole way, with real training."""

import json
import tomllib
from dataclasses import replace

import pytest
import torch

import clearformer
from clearformer.evaluation.bleu import quick_bleu
from clearformer.folder.description import read_description
from clearformer.foundation import storage
from clearformer.run import train as run
from clearformer.run.recipe import read_recipe
from clearformer.training.metrics_log import read_records
from clearformer.training.signals import Stop
from flows.numbers import write_recipe

CHANGES = (
    "training.steps=480",
    "training.save_every=60",
    "training.validate_every=120",
    "training.log_every=20",
    "training.batch_tokens=1500",
    "training.average=2",
    "training.schedule={ warmup = 60, peak = 0.01 }",
    "model.dim=64",
    "model.hidden_dim=128",
    "scoring.examples=20",
)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A finished run: its folder and the model folder that it returned."""
    folder = tmp_path_factory.mktemp("numbers")
    recipe = read_recipe(write_recipe(folder), CHANGES)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    model = run.train(recipe, folder / "out", base=folder)
    torch.set_num_threads(threads)
    return folder, model


@pytest.mark.slow
def test_a_trained_model_translates_what_it_never_saw(trained):
    folder, model = trained
    sources, references = ((folder / f"dev.{side}").read_text().splitlines() for side in ("words", "figures"))
    found = [translation.text for translation in clearformer.load(model).translate(sources)]
    assert quick_bleu(found, references, "none") > 80
    assert sum(one == other for one, other in zip(found, references, strict=True)) >= 14  # of twenty, to the letter


@pytest.mark.slow
def test_the_folder_of_a_run_holds_everything_that_it_promises(trained):
    folder, model = trained
    out = folder / "out"
    assert model == out / "model"
    storage.verify(model)
    resolved = tomllib.loads((out / "recipe.toml").read_text(encoding="utf-8"))
    assert resolved["training"]["steps"] == 480
    assert read_recipe(out / "recipe.toml").training == read_recipe(folder / "numbers.toml", CHANGES).training
    records = read_records(out / "metrics.jsonl")
    train = [record for record in records if record["kind"] == "train"]
    validation = [record for record in records if record["kind"] == "validation"]
    assert [record["step"] for record in train] == list(range(20, 481, 20))
    assert [record["step"] for record in validation] == [120, 240, 360, 480]
    assert train[-1]["loss"] < 0.7 * train[0]["loss"]
    assert validation[-1]["bleu"] > validation[0]["bleu"]
    assert " → " in validation[-1]["sample_0"]
    assert list((out / "events").iterdir())
    assert (out / "checkpoints" / "best").exists()


@pytest.mark.slow
def test_the_finished_model_is_the_mean_of_the_last_planned_checkpoints(trained):
    folder, model = trained
    folders = (folder / "out" / "checkpoints" / f"{step:08d}" for step in (420, 480))
    one, other = (storage.read_tensors(path / "model.safetensors") for path in folders)
    finished = storage.read_tensors(model / "model.safetensors")
    for name, weight in finished.items():
        assert torch.equal(weight, ((one[name].double() + other[name].double()) / 2).float())


@pytest.mark.slow
def test_the_model_says_where_it_comes_from(trained):
    _, model = trained
    provenance = read_description(model).provenance
    assert provenance["recipe"] == "numbers"
    assert provenance["data"] == "train.words"
    assert provenance["source_language"] == "en"
    assert str(model.parent) not in json.dumps(provenance)  # no path of this machine


@pytest.mark.slow
def test_company_does_not_change_a_trained_model_s_words(trained):
    folder, model = trained
    translator = clearformer.load(model)
    sources = (folder / "train.words").read_text().splitlines()[:48]
    alone = translator.translate(sources, batch=1)
    for size in (7, 48):
        assert translator.translate(sources[::-1], batch=size) == alone[::-1]


@pytest.mark.slow
def test_a_run_is_not_begun_over_by_mistake_and_a_finished_one_is_finished_again(trained):
    folder, model = trained
    recipe = read_recipe(folder / "numbers.toml", CHANGES)
    with pytest.raises(ValueError, match="holds a run already; resume it with --resume, or choose another --out"):
        run.train(recipe, folder / "out", base=folder)
    before = {file.name: file.read_bytes() for file in model.iterdir()}
    assert run.train(recipe, folder / "out", base=folder, resume=True) == model
    assert {file.name: file.read_bytes() for file in model.iterdir()} == before


@pytest.mark.slow
def test_a_run_can_be_prolonged(trained, caplog):
    """With more steps it goes on from its last checkpoint, and says that the recipe has changed."""
    folder, _ = trained
    recipe = read_recipe(folder / "numbers.toml", CHANGES)
    longer = replace(recipe, training=replace(recipe.training, steps=481))
    seen = []
    watchers = run.Watchers(train=lambda report: seen.append(report.progress.step))
    run.train(longer, folder / "out", base=folder, resume=True, watchers=watchers)
    assert seen == [481]
    assert "steps = 481" in caplog.text


def test_an_interrupted_run_says_how_to_go_on_and_does(tmp_path, monkeypatch):
    recipe = read_recipe(write_recipe(tmp_path), ["training.steps=8"])
    stops = []

    class Press(Stop):
        def __enter__(self):
            stops.append(super().__enter__())
            return self

    def press(report):
        if report.progress.step == 3:
            stops[0].asked = True

    monkeypatch.setattr(run, "Stop", Press)
    with pytest.raises(
        run.Interrupted, match="stopped at step 3 and saved; resume with: clearformer train --resume --out"
    ):
        run.train(recipe, tmp_path / "out", base=tmp_path, watchers=run.Watchers(train=press))
    assert not (tmp_path / "out" / "model").exists()
    assert run.train(recipe, tmp_path / "out", base=tmp_path, resume=True).exists()
