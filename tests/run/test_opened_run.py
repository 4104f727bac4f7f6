"""From the folder of a run to its model, at any step that it has saved."""

import pytest
import torch

from clearformer.folder import bundle
from clearformer.model.weights import weights_of
from clearformer.run.opened_run import open_run
from clearformer.run.recipe import read_recipe
from clearformer.run.train import Interrupted, Watchers, train
from flows.tiny_tasks import write_digits


class Enough(Exception):  # noqa: N818 - it is not an error
    """The test has seen what it wanted."""


@pytest.fixture
def recipe(tmp_path):
    changes = ["training.steps=6", "training.save_every=2", "training.validate_every=6", "training.keep=9"]
    return read_recipe(write_digits(tmp_path), changes)


def test_a_finished_run_opens_as_its_model_and_as_every_checkpoint(recipe, tmp_path):
    model = train(recipe, tmp_path / "out", base=tmp_path)
    whole, finished = weights_of(bundle.load(model).model), open_run(tmp_path / "out")
    assert finished.task == "picture-classification"
    assert all(torch.equal(weight, whole[name]) for name, weight in weights_of(finished.model).items())
    at = {step: weights_of(open_run(tmp_path / "out", step).model) for step in (0, 2, 4, 6)}
    assert all(torch.equal(weight, whole[name]) for name, weight in at[6].items())
    for one, other in ((0, 2), (2, 4), (4, 6)):
        assert any(not torch.equal(weight, at[other][name]) for name, weight in at[one].items())
    with pytest.raises(ValueError, match="has no checkpoint at step 3; it has 0, 2, 4, 6"):
        open_run(tmp_path / "out", 3)


def test_a_run_under_way_opens_at_its_newest_checkpoint(recipe, tmp_path):
    def stop(report):
        if report.progress.step == 5:
            raise Enough

    with pytest.raises((Enough, Interrupted)):
        train(recipe, tmp_path / "out", base=tmp_path, watchers=Watchers(train=stop))
    assert not (tmp_path / "out" / "model").exists()
    newest, fourth = (weights_of(open_run(tmp_path / "out", step).model) for step in (None, 4))
    assert all(torch.equal(weight, fourth[name]) for name, weight in newest.items())
    assert open_run(tmp_path / "out").labels == ("0", "1", "7")  # it says what it needs to be used


def test_a_run_without_a_checkpoint_says_so(tmp_path):
    with pytest.raises(ValueError, match="has no checkpoint yet"):
        open_run(tmp_path)
