"""Masks on the pages: they are those of `segment`, and every value is the network's."""

import numpy as np
import pytest
import torch

from clearformer.inference.picture_classifier import as_tensor
from clearformer.inference.segmenter import Segmenter
from clearformer.inference.tiles import cut_tile
from clearformer.model.trace import trace
from clearformer.serving.refusal import Refused
from clearformer.studio.app import Handlers
from clearformer.studio.patch_tokens import read_upload
from clearformer.studio.requests import MaskPartRequest, MaskRequest, PictureAttentionRequest, TokenRequest
from clearformer.studio.runs import Runs
from clearformer.studio.shown_model import ShownModel
from studio.small_pictures import mask_model, numbers, picture_file


@pytest.fixture(scope="module", params=["instances", "classes"])
def viewed(request):
    """(bundle, senses, file, what was answered)."""
    bundle = mask_model(request.param)
    senses = Handlers(ShownModel(bundle, "masks"), Runs([])).senses
    content = picture_file(width=40, height=24)
    return bundle, senses, content, senses.masks(content)


@pytest.mark.parametrize(("threshold", "smallest"), [(0.5, 0), (0.3, 0), (0.5, 9)])
def test_masks_are_those_of_segment(viewed, threshold, smallest):
    bundle, senses, content, found = viewed
    told = senses.mask(MaskRequest(masks=found["masks"], threshold=threshold, smallest=smallest))
    [said] = Segmenter(bundle).segment([read_upload(content)], threshold=threshold, smallest=smallest)
    assert np.array_equal(numbers(told["mask"]), said.mask)
    assert [(one["number"], one["area"], one["box"]) for one in told["found"]] == [
        (one.number, one.area, one.box) for one in said.found
    ]
    assert told["found"]


def test_channels_are_what_the_network_says_of_every_pixel(viewed):
    bundle, senses, content, found = viewed
    values = Segmenter(bundle).values(read_upload(content))
    assert len(found["channels"]) == len(values)
    for number, one in enumerate(values):
        told = senses.mask_channel(MaskPartRequest(masks=found["masks"], number=number))
        assert np.array_equal(numbers(told["values"]), one.numpy())


def test_a_tile_s_tokens_and_attention_are_those_of_its_own_pass(viewed):
    bundle, senses, content, found = viewed
    assert len(found["tiles"]) > 1
    seen = senses.mask_tile(MaskPartRequest(masks=found["masks"], number=1))
    pixels = Segmenter(bundle).read(read_upload(content))
    tile = cut_tile(pixels, *found["tiles"][1], found["tile"])
    assert np.array_equal(numbers(seen["pixels"]), tile)
    with trace(bundle.model) as values, torch.inference_mode():
        bundle.model(as_tensor([tile], bundle.preprocessing.picture))
    assert (seen["side"], seen["extra"]) == (4, 0)
    token = senses.picture_token(TokenRequest(picture=seen["picture"], place=3))
    assert token["patch"] is None  # its numbers are those of convolutions, not pixels
    assert np.array_equal(numbers(token["output"]), values["encoder.front.output"][0, 3].numpy())
    looked = senses.picture_attention(PictureAttentionRequest(picture=seen["picture"], layer=0, query=3))
    assert np.array_equal(numbers(looked["weights"]), values["encoder.layers.0.self_attn.weights"][0, :, 3].numpy())


def test_what_is_not_there_is_refused(viewed, all_handlers):
    _, senses, _, found = viewed
    with pytest.raises(ValueError, match="channel 9 does not exist"):
        senses.mask_channel(MaskPartRequest(masks=found["masks"], number=9))
    with pytest.raises(ValueError, match="tile 900 does not exist"):
        senses.mask_tile(MaskPartRequest(masks=found["masks"], number=900))
    with pytest.raises(Refused, match="choose it again"):
        senses.mask(MaskRequest(masks="0" * 32))
    with pytest.raises(Refused, match="more than the 1000000"):
        senses.masks(picture_file(width=1001, height=1000))
    with pytest.raises(Refused, match="draws no masks"):
        all_handlers["bert"].senses.masks(picture_file())
