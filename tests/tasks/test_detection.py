"""Finding objects: what was prepared in training is prepared in use, and a tiny model finds most of what was drawn."""

import json

import numpy as np
import pytest
import torch

import clearformer as cf
from clearformer.folder import bundle
from clearformer.folder.description import open_folder
from clearformer.inference.detection_settings import DetectionConfig
from clearformer.model.box_geometry import to_corners
from clearformer.run.recipe import read_recipe
from clearformer.tasks import detection, name_task
from clearformer.tasks.detection import HeldBoxes, held_out, settle
from clearformer.tasks.task import Judging, Scoring
from clearformer.training.distributed import Ranks
from flows.tiny_tasks import write_shapes
from run.assembled import assemble
from support.toy_boxes import KINDS, draw_many, write_coco


@pytest.fixture
def recipe(tmp_path):
    return read_recipe(write_shapes(tmp_path))


@pytest.fixture
def made(recipe, tmp_path):
    return assemble(recipe, tmp_path)


def test_preprocessing_travels_with_the_weights(made, recipe, tmp_path):
    """A held-out picture gives the same boxes through training's collate and through a loaded folder."""
    bundle.save(made.made, tmp_path / "model")
    told = json.loads((tmp_path / "model" / "config.json").read_text())
    assert told["preprocessing"]["picture"]["fit"] == "stretch"
    assert told["preprocessing"]["labels"] == list(KINDS)
    assert name_task(None, told["model"]) == "detection"
    detector = cf.load(tmp_path / "model")
    held = made.prepared.held
    rows = list(detection.loaded(held.pictures[:4], held.names, faulty="refuse", channels=3))
    collate = detection.collate(recipe.data, made.prepared.preprocessing)
    with torch.inference_mode():
        expected = made.made.model.eval()(collate(made.prepared.dev[:4], ()).pictures)
    scores, corners = detector.boxes([pixels for pixels, _ in rows])
    torch.testing.assert_close(scores, expected[..., :2].sigmoid())
    torch.testing.assert_close(corners, to_corners(expected[..., 2:]).clamp(0, 1))


def test_boxes_of_a_batch_lead_back_to_the_pixels_of_the_pictures(made, recipe):
    collate = detection.collate(recipe.data, made.prepared.preprocessing)
    held = made.prepared.held
    batch = collate(made.prepared.dev, ())
    for row, one in enumerate(held.pictures):
        count = len(one.names)
        back = to_corners(batch.boxes[row, :count]) * torch.tensor([60, 40, 60, 40])
        np.testing.assert_allclose(back, one.boxes, atol=1e-3)
        assert [held.names[label] for label in batch.labels[row, :count]] == list(one.names)
        assert (batch.labels[row, count:] == -1).all()


def test_views_are_a_pure_function_of_the_seed(made, recipe):
    collate = detection.collate(recipe.data, made.prepared.preprocessing)
    rows = [made.prepared.train[index] for index in range(6)]
    one, same, other = (collate(rows, seed) for seed in ((1, 5, 0), (1, 5, 0), (1, 6, 0)))
    assert torch.equal(one.pictures, same.pictures)
    assert torch.equal(one.boxes, same.boxes)
    assert not torch.equal(one.pictures, other.pictures)
    plain = collate(rows, ())
    assert torch.equal(plain.pictures, collate(rows, ()).pictures)


def test_a_wrong_network_and_wrong_test_sets_are_refused(made, tmp_path):
    bundle.save(made.made, tmp_path / "model")
    folder = open_folder(tmp_path / "model")
    other = write_coco(tmp_path / "other", draw_many(3))
    other.write_text(other.read_text().replace("disc", "ring"))
    with pytest.raises(ValueError, match=r"has the class 'ring', and the model knows disc, square: rename it"):
        held_out([other], folder)
    with pytest.raises(ValueError, match="one file too many"):
        held_out([other, other], folder)


def test_boxes_that_no_score_can_count_are_counted(made, tmp_path):
    path = write_coco(tmp_path / "test", draw_many(4))
    table = json.loads(path.read_text())
    table["annotations"][0]["bbox"] = [3, 3, 0, 4]
    path.write_text(json.dumps(table))
    bundle.save(made.made, tmp_path / "model")
    held = held_out([path], open_folder(tmp_path / "model"))
    judging = Judging(options=DetectionConfig(), scoring=Scoring(), ranks=Ranks.alone(), thorough=True)
    scores = detection.score(detection.Detector(made.made), held, judging)
    assert scores["boxes_left_out"] == 1
    assert scores["objects"] == len(table["annotations"]) - 1


def test_settling_takes_the_threshold_with_the_best_f1(made):
    judging = Judging(options=DetectionConfig(), scoring=Scoring(), ranks=Ranks.alone(), thorough=True)
    detector = detection.Detector(made.made)
    found = settle(detector, made.prepared.held, judging)
    assert 0 < found.outcome.threshold < 1
    assert len(found.outcome.thresholds) == len(detector.labels)
    assert "best F1 of their class on dev" in found.said


def test_scores_are_the_same_whatever_was_asked_before(made):
    """The threshold of use does not reach the score, which looks at every box."""
    held: HeldBoxes = made.prepared.held
    detector = detection.Detector(made.made)
    scored = [
        detection.score(detector, held, Judging(options=options, scoring=Scoring(), ranks=Ranks.alone()))
        for options in (DetectionConfig(), DetectionConfig(threshold=0.99))
    ]
    assert scored[0] == scored[1]


def test_a_tiny_model_learns_pictures_by_heart(made, recipe):
    """Loss, matching and head together: after some steps nearly every object of eight pictures is found, once."""
    torch.manual_seed(1)
    model, held = made.made.model, made.prepared.held
    batch = detection.collate(recipe.data, made.prepared.preprocessing)(made.prepared.dev, ())
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    first = last = 0.0
    for step in range(160):
        found = detection.loss(model.train(), batch, detection.BoxObjective())
        optimiser.zero_grad()
        (found.total / found.count).backward()
        optimiser.step()
        last = float(found.total.detach())
        first = last if step == 0 else first
    judging = Judging(options=DetectionConfig(), scoring=Scoring(), ranks=Ranks.alone())
    scores = detection.score(detection.Detector(made.made), held, judging)
    assert last < first / 3
    assert scores["ap50"] > 0.8, scores
