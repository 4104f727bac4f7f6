"""Pictures: what happened to one in training happens to it in use, and nothing of the held-out ones is learned."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

import clearformer as cf
from clearformer.folder import bundle
from clearformer.run.recipe import read_recipe
from clearformer.tasks import picture_classes
from clearformer.tasks.picture_classes import ClassObjective, PictureData
from clearformer.tasks.task import Judging, Scoring, Workspace
from clearformer.training.distributed import Ranks
from flows.tiny_tasks import drawn, write_digits, write_idx
from run.assembled import assemble


@pytest.fixture
def recipe(tmp_path):
    return read_recipe(write_digits(tmp_path))


@pytest.fixture
def made(recipe, tmp_path):
    return assemble(recipe, tmp_path)


def test_preprocessing_travels_with_the_weights(made, recipe, tmp_path):
    """The same picture gives the same logits through training's collate and through a loaded folder."""
    bundle.save(made.made, tmp_path / "model")
    told = json.loads((tmp_path / "model" / "config.json").read_text())["preprocessing"]
    pixels = np.stack([pixels.reshape(8, 8) for pixels, _ in made.prepared.train]) / 255
    assert told["picture"]["mean"] == pytest.approx([pixels.mean()], abs=1e-5)
    assert told["picture"]["deviation"] == pytest.approx([pixels.std()], abs=1e-5)
    assert told["labels"] == ["0", "1", "7"]
    classifier = cf.load(tmp_path / "model")
    collate = picture_classes.collate(recipe.data, made.prepared.preprocessing)
    rows = [made.prepared.train[index] for index in range(5)]
    with torch.inference_mode():
        expected = made.made.model.eval()(collate(rows, ()).pictures).softmax(-1)
    found = classifier.probabilities([pixels.reshape(8, 8, 1) for pixels, _ in rows])
    torch.testing.assert_close(found, expected)
    changed = replace(made.made.preprocessing.picture, mean=(0.9,))
    other = replace(made.made, preprocessing=replace(made.made.preprocessing, picture=changed))
    bundle.save(other, tmp_path / "other")  # a test that cannot fail shows nothing: other facts, other numbers
    wrong = cf.load(tmp_path / "other").probabilities([pixels.reshape(8, 8, 1) for pixels, _ in rows])
    assert (wrong - found).abs().max() > 1e-4


def test_augmentation_is_a_pure_function_of_the_seed(made, recipe):
    collate = picture_classes.collate(recipe.data, made.prepared.preprocessing)
    rows = [made.prepared.train[index] for index in range(16)]
    one, same, other = (collate(rows, seed) for seed in ((1, 5, 0), (1, 5, 0), (1, 6, 0)))
    assert torch.equal(one.pictures, same.pictures)
    assert not torch.equal(one.pictures, other.pictures)
    assert torch.equal(one.labels, other.labels)
    plain = picture_classes.collate(PictureData(train="digits"), made.prepared.preprocessing)
    assert torch.equal(collate(rows, ()).pictures, plain(rows, (1, 5, 0)).pictures)  # none in validation


def test_held_out_pictures_are_not_learned_from(made):
    train = {pixels.tobytes() for pixels, _ in made.prepared.train}
    held = {pixels.tobytes() for pixels in made.prepared.held.pixels}
    assert len(held) == 12
    assert len(train) == 78
    assert not train & held


def test_another_share_held_out_makes_other_shards(recipe, tmp_path):
    """A start that went wrong leaves its shards behind; the next one may want other pictures held out."""
    workspace = Workspace(folder=tmp_path / "out", base=tmp_path)
    picture_classes.prepare(recipe.data, workspace)
    again = picture_classes.prepare(replace(recipe.data, hold_out=5), workspace)
    train = {pixels.tobytes() for pixels, _ in again.train}
    assert len(train) == 85
    assert not train & {pixels.tobytes() for pixels in again.held.pixels}


def test_a_development_set_of_its_own_is_taken_whole(recipe, tmp_path):
    pictures, digits = drawn(9, seed=5)
    write_idx(tmp_path / "dev.idx", pictures)
    write_idx(tmp_path / "dev-labels.idx", digits)
    data = replace(recipe.data, dev="dev.idx", dev_labels="dev-labels.idx")
    prepared = picture_classes.prepare(data, Workspace(folder=tmp_path / "out", base=tmp_path))
    assert (len(prepared.train), len(prepared.dev)) == (90, 9)
    write_idx(tmp_path / "dev-labels.idx", np.full(9, 4, dtype=np.uint8))
    with pytest.raises(ValueError, match=r"dev\.idx has the class '4', which no training picture has"):
        picture_classes.prepare(data, Workspace(folder=tmp_path / "two", base=tmp_path))


def test_the_data_decide_picture_and_classes_of_the_model(made):
    config = made.made.config
    assert (config.front.picture, config.front.channels, config.head.labels) == (8, 1, 3)


def test_the_loss_counts_pictures_and_how_often_it_was_right(made):
    batch = made.parts().batch_at(0)
    model = made.made.model.eval()
    with torch.no_grad():
        found = picture_classes.loss(model, batch, ClassObjective())
        logits = model(batch.pictures)
    own, other = (
        torch.nn.functional.cross_entropy(logits, labels, reduction="none") for labels in (batch.labels, batch.others)
    )
    torch.testing.assert_close(found.total, (batch.share * own + (1 - batch.share) * other).sum())
    plain = replace(batch, others=None, share=None)
    torch.testing.assert_close(picture_classes.loss(model, plain, ClassObjective()).total.detach(), own.sum())
    assert found.count == len(batch.labels)
    assert int(found.metrics["accuracy"]) == int((logits.argmax(-1) == batch.labels).sum())


def test_a_validation_looks_at_as_many_as_the_recipe_says_and_evaluate_at_all(made, recipe):
    classifier = made.task.use(made.made)
    judging = Judging(options=recipe.use, scoring=Scoring(examples=4), ranks=Ranks())
    held = made.prepared.held
    quick = picture_classes.score(classifier, held, judging)
    assert quick["accuracy"] * 4 == pytest.approx(round(quick["accuracy"] * 4))
    thorough = picture_classes.score(classifier, held, replace(judging, thorough=True))
    assert thorough["examples"] == 12
    assert thorough["accuracy_low"] <= thorough["accuracy"] <= thorough["accuracy_high"]


def test_a_folder_without_pictures_is_named(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="empty holds no pictures: give a folder with one subfolder per class"):
        picture_classes.prepare(PictureData(train="empty"), Workspace(folder=tmp_path / "out", base=tmp_path))
