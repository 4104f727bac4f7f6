"""Painters in training: what is drawn comes from the seed, the loss is what it says, the book stays the run's own."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import clearformer as cf
from clearformer.folder import bundle
from clearformer.run.evaluation import evaluate
from clearformer.run.recipe import read_recipe
from clearformer.run.train import train
from clearformer.tasks import painting
from clearformer.tasks.painting import PaintingData, PaintingObjective
from clearformer.tasks.task import Workspace
from flows.tiny_tasks import drawn, write_idx, write_paintings
from run.assembled import assemble

WAYS = ("flow", "hidden-places", "left-to-right")


@pytest.fixture(params=WAYS)
def made(request, tmp_path):
    return assemble(read_recipe(write_paintings(tmp_path, request.param)), tmp_path)


def test_the_data_decide_the_model(made):
    config, told = made.made.config, made.prepared.preprocessing
    assert (config.shape, config.condition.classes) == ("conditioned", 3)
    assert told.labels == ("0", "1", "7")
    if made.recipe.data.way == "flow":
        assert (config.front.kind, config.head.kind, config.front.picture, told.codes) == ("patches", "pixels", 8, None)
    else:
        assert (config.front.kind, config.vocab_size, config.max_len) == ("tokens", 25, 16)
        assert config.condition.causal is (told.codes.order == "left-to-right")


def test_a_batch_is_a_pure_function_of_the_seed(made):
    collate = painting.collate(made.recipe.data, made.prepared.preprocessing)
    rows = [made.prepared.train[index] for index in range(40)]
    one, same, other = (collate(rows, seed) for seed in ((1, 5, 0), (1, 5, 0), (1, 6, 0)))
    for name in ("given", "classes", "goal"):
        assert torch.equal(getattr(one, name), getattr(same, name))
    assert not torch.equal(one.given, other.given)
    assert (one.classes == 3).any()  # some are not told their class
    looked = collate(rows, ())
    assert (looked.classes < 3).all()  # none of those in validation, which is the same at every look
    assert torch.equal(looked.given, collate(rows, ()).given)


def test_what_is_given_and_what_is_wanted_belong_together(made):
    collate = painting.collate(replace(made.recipe.data, shift=0), made.prepared.preprocessing)
    batch = collate([made.prepared.train[index] for index in range(20)], ())
    way, codes = made.recipe.data.way, made.prepared.preprocessing.codes
    if way == "flow":
        assert (batch.goal.min() >= -1, batch.goal.max() <= 1) == (True, True)
        t = batch.times.view(-1, 1, 1, 1)
        noise = (batch.given - t * batch.goal) / (1 - t)
        assert abs(float(noise.mean())) < 0.15
        assert float(noise.std()) == pytest.approx(1, abs=0.1)
    elif way == "left-to-right":
        assert (batch.given[:, 0] == len(codes)).all()
        assert torch.equal(batch.given[:, 1:], batch.goal[:, :-1])
    else:
        assert torch.equal(batch.given == len(codes), batch.wanted)
        assert torch.equal(batch.given[~batch.wanted], batch.goal[~batch.wanted])
        assert batch.wanted.any(dim=1).all()
        assert len(set(batch.wanted.sum(dim=1).tolist())) > 3  # of one row few are hidden, of another most


def test_the_loss_by_hand(made):
    batch = made.parts().batch_at(0)
    model = made.made.model.eval()
    with torch.no_grad():
        found = painting.loss(model, batch, PaintingObjective())
        if made.recipe.data.way == "flow":
            clean = model(batch.given, batch.classes, batch.times)
            errors = ((clean - batch.goal) ** 2).flatten(1).mean(dim=1)
            torch.testing.assert_close(found.total, (errors / (1 - batch.times).clamp(min=0.05) ** 2).sum())
            plain = painting.loss(model, batch, PaintingObjective(error="picture"))
            torch.testing.assert_close(plain.total, errors.sum())
            assert found.count == len(batch)
        else:
            logits = model(batch.given, batch.classes)
            wanted = torch.ones_like(batch.goal, dtype=torch.bool) if batch.wanted is None else batch.wanted
            expected = torch.nn.functional.cross_entropy(logits[wanted], batch.goal[wanted], reduction="sum")
            torch.testing.assert_close(found.total, expected)
            assert found.count == int(wanted.sum())


def test_a_resumed_run_finds_its_book_again(tmp_path):
    recipe = read_recipe(write_paintings(tmp_path, "hidden-places"))
    first = painting.prepare(recipe.data, Workspace(folder=tmp_path / "out", base=tmp_path)).preprocessing.codes
    again = painting.prepare(
        recipe.data, Workspace(folder=tmp_path / "out", base=tmp_path, resume=True)
    ).preprocessing.codes
    assert np.array_equal(first.book, again.book)
    new = replace(recipe.data, codes=8)
    other = painting.prepare(new, Workspace(folder=tmp_path / "out", base=tmp_path)).preprocessing.codes
    assert len(other) == 8  # a run that begins anew makes its own


@pytest.mark.parametrize("way", WAYS)
def test_preprocessing_travels_with_the_weights(way, tmp_path):
    recipe = read_recipe(write_paintings(tmp_path, way), ["training.steps=2", "training.save_every=2"])
    folder = train(recipe, tmp_path / "run", base=tmp_path)
    painter = cf.load(folder)
    assert painter.way == way
    assert painter.provenance["decoding"] == {"guidance": 1.5, "temperature": 1.0, "steps": 3}
    before = painter.paint("7", count=2, steps=2)
    bundle.save(painter.bundle, tmp_path / "again")
    after = cf.load(tmp_path / "again").paint("7", count=2, steps=2)
    assert [one.pixels.tobytes() for one in before] == [one.pixels.tobytes() for one in after]


def test_a_test_set_needs_classes_that_are_painted(tmp_path):
    recipe = read_recipe(write_paintings(tmp_path), ["training.steps=1", "training.save_every=1"])
    folder = train(recipe, tmp_path / "run", base=tmp_path)
    pictures, digits = drawn(6, seed=9)
    write_idx(tmp_path / "test.idx", pictures)
    write_idx(tmp_path / "others.idx", digits + 2)
    with pytest.raises(ValueError, match=r"test\.idx has the class '2', and the model paints 0, 1, 7"):
        evaluate(folder, [tmp_path / "test.idx", tmp_path / "others.idx"])


def test_a_painter_learns_which_class_looks_how(tmp_path):
    """A real, if small, run: means of what is painted are nearest to the means of their own class."""
    small = [f"training.{name}=500" for name in ("steps", "save_every", "validate_every")]
    small += ["data.shift=0", "model.dim=32", "model.dropout.residual=0"]
    small += ["training.schedule.peak=0.004", "training.batch_tokens=32"]
    recipe = read_recipe(write_paintings(tmp_path), small)
    painter = cf.load(train(recipe, tmp_path / "run", base=tmp_path))
    pictures, digits = drawn(90)
    middles = {str(digit): pictures[digits == digit].mean(axis=0) for digit in (0, 1, 7)}
    right = 0
    painted = painter.paint(count=5, steps=8)
    for one in painted:
        apart = {label: np.abs(one.pixels[..., 0] - middle).mean() for label, middle in middles.items()}
        right += min(apart, key=apart.get) == one.label
    assert right >= 14


@pytest.mark.parametrize("wrong", [{"codes": 1}, {"patch": 0}, {"untold": 1.0}, {"channels": 2}])
def test_numbers_that_cannot_be_are_refused(wrong):
    with pytest.raises(ValueError, match=f"data.{next(iter(wrong))}|data.codes"):
        PaintingData(**wrong)
