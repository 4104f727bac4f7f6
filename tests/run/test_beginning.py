"""The model before its first step: drawn by the seed, or what another folder holds."""

from dataclasses import replace

import pytest
import torch

from clearformer.folder import bundle
from clearformer.inference.translator import Translator
from clearformer.interop.importer import import_checkpoint
from clearformer.model.families import FAMILIES
from clearformer.model.weights import weights_of
from clearformer.run import train
from clearformer.run.recipe import read_recipe
from flows.numbers import write_recipe
from interop.folders import write
from interop.spm import train_marian
from run.assembled import assemble

SHORT = ("training.steps=2", "training.save_every=1", "training.validate_every=2", "training.log_every=1")


@pytest.fixture
def recipe(tmp_path):
    return read_recipe(write_recipe(tmp_path), SHORT)


def test_the_seed_alone_draws_the_weights(recipe, tmp_path):
    one, other = (weights_of(assemble(recipe, tmp_path).made.model) for _ in range(2))
    assert all(torch.equal(weight, other[name]) for name, weight in one.items())
    sown = replace(recipe, training=replace(recipe.training, seed=2))
    third = weights_of(assemble(sown, tmp_path).made.model)
    assert any(not torch.equal(weight, third[name]) for name, weight in one.items())


def test_the_folder_will_say_task_recipe_and_data(recipe, tmp_path):
    made = assemble(recipe, tmp_path).made
    assert made.task == "translation"
    assert made.provenance["recipe"] == "numbers"
    assert made.provenance["data"] == "train.words"
    assert made.provenance["source_language"] == "en"
    assert "licence" not in made.provenance  # what nobody said is not said


def test_a_run_goes_on_from_a_model_folder(recipe, tmp_path):
    """Its vocabulary and weights are that model's: without a step's worth of learning it says what that model says."""
    first = train.train(recipe, tmp_path / "first", base=tmp_path)
    still = replace(recipe.training, schedule=replace(recipe.training.schedule, kind="constant", peak=1e-12))
    again = replace(recipe, model={"from": "first/model", "dropout": {"residual": 0.0}}, training=still)
    second = bundle.load(train.train(again, tmp_path / "second", base=tmp_path))
    begun = bundle.load(first)
    assert second.tokenizer == begun.tokenizer
    assert second.config == replace(begun.config, dropout=second.config.dropout)
    assert second.config.dropout.residual == 0.0
    before, after = weights_of(begun.model), weights_of(second.model)
    assert max(float((before[name] - after[name]).abs().max()) for name in before) < 1e-6


def test_a_run_goes_on_from_an_imported_marian(recipe, tmp_path):
    """Marian's decoder begins with padding; so does every target of the run, and the finished folder says the same."""
    folder = tmp_path / "published"
    folder.mkdir()
    ids = train_marian(folder)
    config = FAMILIES["marian"](vocab_size=len(ids), dim=16, hidden_dim=16, layers=1, heads=2)
    write(folder, "marian", "MarianMTModel", config, decoder_start_token_id=ids["<pad>"], pad_token_id=ids["<pad>"])
    import_checkpoint(folder, tmp_path / "imported")
    finished = train.train(replace(recipe, model={"from": "imported"}), tmp_path / "run", base=tmp_path)
    translator = Translator(bundle.load(finished))
    assert translator.markers.start == ids["<pad>"]
    assert translator.target_tokenizer == bundle.load(tmp_path / "imported").target_tokenizer
    assert translator.translate("one two", beam=1, max_extra=1)[0].ids is not None
