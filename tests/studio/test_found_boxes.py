"""Objects on the pages: what is shown is what `detect` gives and what each patch says, and nothing else."""

import numpy as np
import pytest
import torch

from clearformer.inference.detector import Detector
from clearformer.inference.picture_classifier import as_tensor, fit
from clearformer.model.box_geometry import from_corners
from clearformer.model.trace import trace
from clearformer.serving.refusal import Refused
from clearformer.studio.app import Handlers
from clearformer.studio.found_boxes import LONGEST
from clearformer.studio.patch_tokens import read_upload
from clearformer.studio.requests import BoxesRequest, PictureAttentionRequest, TokenRequest
from clearformer.studio.runs import Runs
from clearformer.studio.shown_model import ShownModel
from studio.small_pictures import box_model, numbers, picture_file


@pytest.fixture(scope="module")
def viewed():
    """(bundle, senses, file, what was answered)."""
    bundle = box_model()
    senses = Handlers(ShownModel(bundle, "boxes"), Runs([])).senses
    content = picture_file(width=40, height=24, channels=3)
    return bundle, senses, content, senses.boxes(content)


@pytest.mark.parametrize(("threshold", "duplicates"), [(None, 1.0), (0.0, 1.0), (0.3, 0.4), (1.0, 1.0)])
def test_objects_are_those_of_detect(viewed, threshold, duplicates):
    bundle, senses, content, found = viewed
    request = BoxesRequest(picture=found["picture"], threshold=threshold, duplicates=duplicates)
    told = senses.chosen_boxes(request)
    [said] = Detector(bundle).detect([read_upload(content)], threshold=threshold, duplicates=duplicates)
    assert [(one["label"], one["score"], one["box"]) for one in told["objects"]] == [
        (one.label, pytest.approx(one.score), pytest.approx(one.box)) for one in said.objects
    ]
    assert (told["counts"], told["nearest"]) == (said.counts, pytest.approx(said.nearest))
    scores, labels = numbers(found["scores"]), found["labels"]
    for one in told["objects"]:  # the patch that is named is the one that said so
        assert scores[one["patch"], labels.index(one["label"])] == pytest.approx(one["score"])


def test_every_patch_s_box_is_the_network_s(viewed):
    bundle, _, content, found = viewed
    facts = bundle.preprocessing.picture
    with trace(bundle.model, only=["head.boxes"]) as seen, torch.inference_mode():
        bundle.model(as_tensor([fit(read_upload(content), facts)], facts))
    corners = torch.from_numpy(numbers(found["corners"]).copy())
    inside = (corners > 0).all(dim=1) & (corners < 1).all(dim=1)  # others were cut at the picture's edge
    assert inside.any()
    assert torch.allclose(from_corners(corners)[inside], seen["head.boxes"][0][inside], atol=1e-5)
    assert (found["side"], found["extra"], set(found["thresholds"])) == (4, 0, {0.01})


def test_its_tokens_and_their_attention_are_there_too(viewed):
    _, senses, _, found = viewed
    assert senses.picture_token(TokenRequest(picture=found["picture"], place=5))["patch"]["size"] == 4
    looked = senses.picture_attention(PictureAttentionRequest(picture=found["picture"], layer=1, query=5))
    assert numbers(looked["weights"]).sum(axis=1) == pytest.approx(np.ones(4), abs=1e-5)


def test_the_page_gets_the_whole_picture_but_not_a_larger_one_than_it_shows(viewed):
    _, senses, content, found = viewed
    assert np.array_equal(numbers(found["shown"]), read_upload(content))
    large = senses.boxes(picture_file(width=1000, height=300, channels=3))
    assert large["shown"]["shape"] == [192, LONGEST, 3]
    assert (large["width"], large["height"]) == (1000, 300)


def test_what_is_not_there_is_refused(viewed, all_handlers):
    _, senses, _, _ = viewed
    with pytest.raises(Refused, match="cannot be read as a picture"):
        senses.boxes(b"no picture")
    with pytest.raises(Refused, match="choose it again"):
        senses.chosen_boxes(BoxesRequest(picture="0" * 32))
    with pytest.raises(Refused, match="finds no objects"):
        all_handlers["bert"].senses.boxes(picture_file())
