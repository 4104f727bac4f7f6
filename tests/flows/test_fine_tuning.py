"""A classifier that begins with another model: adapters beside it, layers frozen, the run killed and resumed."""

import shutil

import pytest
import torch

from clearformer.cli.main import main
from clearformer.folder import bundle
from clearformer.folder.bundle import ADAPTERS
from clearformer.inference.text_readers import Classifier
from clearformer.model.weights import weights_of
from clearformer.run.opened_run import open_run
from clearformer.run.recipe import read_recipe
from clearformer.run.train import Interrupted, train
from flows.numbers import write_recipe as write_numbers
from flows.tiny_tasks import write_reviews
from support.stopping import StopsAt

TEXTS = ["the story was lovely", "it is awful and very the plot", "a film"]
SHORT = ("training.steps=4", "training.save_every=2", "training.validate_every=4", "training.log_every=1")
ADAPTED = ("model.from=base/model", "training.tuning.rank=2", "training.schedule.peak=0.02")


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """A folder with the recipe, its data, and a first model in base/."""
    folder = tmp_path_factory.mktemp("tuning")
    recipe = write_reviews(folder)
    train(read_recipe(recipe), folder / "base", base=folder)
    return recipe


def tuned(recipe, out, *changes, resume=False):
    return train(read_recipe(recipe, changes), out, base=recipe.parent, resume=resume)


def said(model):
    return [
        one.scores
        for one in Classifier(model if isinstance(model, bundle.Bundle) else bundle.load(model)).classify(TEXTS)
    ]


def test_adapters_are_a_small_folder_that_says_what_the_merged_model_says(base, tmp_path):
    made = tuned(base, tmp_path / "run", *ADAPTED)
    weights = made / ADAPTERS
    whole = base.parent / "base" / "model" / "model.safetensors"
    assert not (made / whole.name).exists()
    assert weights.stat().st_size < whole.stat().st_size / 2
    assert main(["export", str(made), str(tmp_path / "merged"), "--to", "clearformer"]) == 0
    plain = bundle.load(tmp_path / "merged")
    assert not any("lora" in name for name in weights_of(plain.model))
    assert said(made) == said(plain)
    live = bundle.load(made)
    assert any(
        not torch.equal(weight, weights_of(bundle.load(whole.parent).model).get(name, weight))
        for name, weight in weights_of(live.model).items()
    )


def test_the_checkpoint_of_an_adapted_run_opens_as_a_plain_model(base, tmp_path):
    made = tuned(base, tmp_path / "run", *ADAPTED)
    shutil.rmtree(made)
    assert not any("lora" in name for name in weights_of(open_run(tmp_path / "run").model))


def test_a_base_that_moved_with_its_adapters_is_found(base, tmp_path):
    """The way from one to the other is kept, not the place on this machine."""
    here = tmp_path / "here"
    shutil.copytree(base.parent, here)
    made = tuned(here / base.name, here / "run", *ADAPTED)
    before = said(made)
    here.rename(tmp_path / "there")
    assert said(tmp_path / "there" / "run" / "model") == before


def test_another_base_is_refused_and_a_missing_one_is_named(base, tmp_path):
    here = tmp_path / "here"
    shutil.copytree(base.parent, here)
    made = tuned(here / base.name, here / "run", *ADAPTED)
    shutil.rmtree(here / "base" / "model")
    with pytest.raises(ValueError, match=r"holds adapters, and the model that they belong to is not at .*base"):
        bundle.load(made)
    tuned(here / base.name, here / "other", "training.seed=2")
    shutil.copytree(here / "other" / "model", here / "base" / "model")
    with pytest.raises(ValueError, match=r"is not the model that the adapters in .* were trained with"):
        bundle.load(made)


def test_adapters_beside_adapters_are_refused(base, tmp_path):
    made = tuned(base, tmp_path / "run", *ADAPTED)
    with pytest.raises(ValueError, match="merge it first: clearformer export"):
        tuned(base, tmp_path / "again", f"model.from={made}", "training.tuning.rank=2")


def test_frozen_layers_are_the_base_s_own(base, tmp_path):
    made = tuned(base, tmp_path / "run", "model.from=base/model", "training.tuning.frozen_layers=1")
    before, after = weights_of(bundle.load(base.parent / "base").model), weights_of(bundle.load(made).model)
    assert all(torch.equal(before[name], after[name]) for name in before if not name.startswith("head."))
    assert any(not torch.equal(before[name], after[name]) for name in before if name.startswith("head."))


def test_tuning_without_a_start_is_refused(base, tmp_path):
    with pytest.raises(ValueError, match=r"say model\.from"):
        tuned(base, tmp_path / "run", "training.tuning.rank=2")


@pytest.mark.parametrize("changes", [("training.tuning.rank=2",), ("training.tuning.layer_decay=0.8",)])
def test_a_tuned_run_that_was_stopped_ends_with_the_same_bits(base, tmp_path, monkeypatch, changes):
    changes = ("model.from=base/model", *changes)
    whole = tuned(base, tmp_path / "whole", *changes)
    with monkeypatch.context() as stopping:
        stopping.setattr("clearformer.run.train.Stop", lambda: StopsAt(3))
        with pytest.raises(Interrupted):
            tuned(base, tmp_path / "cut", *changes)
    cut = tuned(base, tmp_path / "cut", *changes, resume=True)
    for file in whole.glob("*.safetensors"):
        assert (cut / file.name).read_bytes() == file.read_bytes()


def test_a_translator_with_adapters_runs_and_its_merged_folder_runs_fast(tmp_path, capsys):
    """CTranslate2 wants whole weights: adapters alone are translated with by the other engine, which says so."""
    recipe = write_numbers(tmp_path)
    base = train(read_recipe(recipe, SHORT), tmp_path / "base", base=tmp_path)
    made = train(
        read_recipe(recipe, (*SHORT, f"model.from={base}", "training.tuning.rank=2")), tmp_path / "run", base=tmp_path
    )
    assert main(["export", str(made), str(tmp_path / "whole"), "--to", "clearformer"]) == 0
    capsys.readouterr()
    said = []
    for folder, engine in ((made, "auto"), (made, "torch"), (tmp_path / "whole", "auto")):
        assert main(["translate", "--model", str(folder), "--engine", engine, "one two"]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1] == said[2]
    assert main(["translate", "--model", str(made), "--engine", "ctranslate2", "one two"]) == 1
    assert "merge them first" in capsys.readouterr().err
