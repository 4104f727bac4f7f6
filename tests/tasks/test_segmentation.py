"""Segmentation from files to scores: it learns, use repeats what training did, classes keep their numbers."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

import clearformer as cf
from clearformer.folder import bundle
from clearformer.folder.description import open_folder
from clearformer.run import train
from clearformer.run.evaluation import evaluate
from clearformer.run.recipe import read_recipe
from clearformer.tasks import segmentation
from clearformer.tasks.task import Judging, Scoring, Workspace
from clearformer.training.distributed import Ranks
from flows.tiny_tasks import write_discs
from run.assembled import assemble
from support.discs import discs, write_pairs


@pytest.fixture
def recipe(tmp_path):
    return read_recipe(write_discs(tmp_path))


@pytest.fixture
def made(recipe, tmp_path):
    return assemble(recipe, tmp_path)


def test_preprocessing_travels_with_the_weights(made, recipe, tmp_path):
    """A whole tile gives the same values through training's collate and through a loaded folder."""
    bundle.save(made.made, tmp_path / "model")
    told = json.loads((tmp_path / "model" / "config.json").read_text())["preprocessing"]
    assert told["masks"] == {
        "kind": "instances", "stretch": False, "overlap": 0.5, "unit": 4.0, "reach": 2, "votes": 8, "smallest": 3,
        "numbers": [],
    }  # fmt: skip
    pixels, _ = discs(50, height=16, width=16)
    row = segmentation.flat(pixels, np.zeros((16, 16), dtype=np.uint16))
    batch = segmentation.collate(recipe.data, made.prepared.preprocessing)([row], ())
    with torch.inference_mode():
        said = made.made.model.eval()(batch.pictures)[0]
    found = cf.load(tmp_path / "model").values(pixels)
    torch.testing.assert_close(found[:2], said[:2].sigmoid())
    torch.testing.assert_close(found[2:], said[2:] * 4)


def test_augmentation_is_a_pure_function_of_the_seed(made, recipe):
    collate = segmentation.collate(recipe.data, made.prepared.preprocessing)
    rows = [made.prepared.train[index] for index in range(4)]
    one, same, other = (collate(rows, seed) for seed in ((1, 5, 0), (1, 5, 0), (1, 6, 0)))
    assert torch.equal(one.pictures, same.pictures)
    assert torch.equal(one.offsets, same.offsets)
    assert not torch.equal(one.pictures, other.pictures)
    plain = segmentation.collate(replace(recipe.data, turn=False, light=0.0), made.prepared.preprocessing)
    assert torch.equal(collate(rows, ()).pictures, plain(rows, ()).pictures)  # nothing is drawn in validation


def test_a_picture_comes_out_of_the_shards_as_it_went_in(made):
    found = {segmentation.shaped(made.prepared.train[index])[0].tobytes() for index in range(10)}
    held = {pixels.tobytes() for pixels in made.prepared.held.pixels}
    assert (len(found), len(held)) == (10, 2)
    assert found | held == {discs(number, count=1 + number % 4)[0].tobytes() for number in range(12)}


def test_the_data_decide_the_channels(made, recipe, tmp_path):
    assert made.made.config.head.labels == 4
    classes = replace(recipe.data, kind="classes")
    prepared = segmentation.prepare(classes, Workspace(folder=tmp_path / "two", base=tmp_path))
    assert segmentation.sizes(prepared.preprocessing)["head"]["labels"] == len(prepared.preprocessing.labels) == 5


def test_it_learns_to_outline_discs(recipe, tmp_path):
    """A tiny network in some seconds; a threshold on brightness cannot part discs that touch."""
    changes = ["training.steps=120", "training.save_every=120", "training.validate_every=120", "data.smallest=8"]
    changes += ["training.schedule.peak=0.01", "training.batch_tokens=8", "model.dropout.residual=0.0", "data.size=24"]
    changes += ["data.light=0.0", "data.invert=0.0", "data.reach=1"]
    learned = read_recipe(tmp_path / "recipe.toml", changes)
    train.train(learned, tmp_path / "run", base=tmp_path)
    write_pairs(tmp_path / "test", 15)
    scores = evaluate(tmp_path / "run", [tmp_path / "test"])
    assert scores["dice"] > 0.85
    assert scores["dice_low"] <= scores["dice"] <= scores["dice_high"]
    assert scores["ap50"] > 0.5
    assert scores["pictures"] == 15


def test_classes_are_scored_and_written_in_their_own_numbers(recipe, tmp_path):
    folder = write_pairs(tmp_path / "ground", 6)
    for path in (folder / "masks").iterdir():
        mask = np.asarray(Image.open(path))
        Image.fromarray(np.where(mask > 0, 9, 4).astype(np.uint8)).save(path)
    changed = replace(recipe, data=replace(recipe.data, train="ground", classes=("ground", "disc")))
    made = assemble(changed, tmp_path)
    segmenter = made.task.use(made.made)
    assert {int(one) for one in np.unique(segmenter.segment(discs(1)[0])[0].mask)} <= {4, 9}
    judging = Judging(options=recipe.use, scoring=Scoring(), ranks=Ranks(), thorough=True)
    scores = made.task.training.score(segmenter, made.prepared.held, judging)
    assert 0 <= scores["mean_iou"] <= 1
    assert "iou_ground" in scores
    quick = made.task.training.score(segmenter, made.prepared.held, replace(judging, thorough=False))
    assert quick == {"mean_iou": scores["mean_iou"]}
    bundle.save(made.made, tmp_path / "model")
    held = segmentation.held_out([folder], open_folder(tmp_path / "model"))
    assert set(np.unique(held.masks[0])) == {0, 1}
