"""Patches as tokens on the pages: what is shown is what the network computed, and nothing else."""

import numpy as np
import pytest
import torch

from clearformer.inference.attention_rollout import roll_out
from clearformer.inference.picture_classifier import as_tensor
from clearformer.model.trace import trace
from clearformer.serving.refusal import Refused
from clearformer.studio.app import Handlers
from clearformer.studio.patch_tokens import PatchTokens, PictureLook, read_upload
from clearformer.studio.requests import PictureAttentionRequest, TokenRequest
from clearformer.studio.runs import Runs
from clearformer.studio.shown_model import ShownModel
from studio.small_pictures import LABELS, convolution_model, numbers, picture_file, picture_model


@pytest.fixture(scope="module", params=[1, 3], ids=["grey", "colour"])
def viewed(request):
    """(bundle, handlers, file, what was answered)."""
    bundle = picture_model(channels=request.param)
    handlers = Handlers(ShownModel(bundle, "pictures"), Runs([]))
    content = picture_file(channels=request.param)
    return bundle, handlers, content, handlers.senses.picture(content)


def test_a_token_is_its_patch_through_one_matrix_plus_a_position(viewed):
    bundle, handlers, _, found = viewed
    pixels = numbers(found["pixels"])
    given = as_tensor([pixels.copy()], bundle.preprocessing.picture)
    with trace(bundle.model) as seen, torch.inference_mode():
        bundle.model(given)
    for place, feature in ((1, 0), (6, 5)):
        told = handlers.senses.picture_token(TokenRequest(picture=found["picture"], place=place, feature=feature))
        y, x = divmod(place - 1, 3)
        assert np.array_equal(numbers(told["patch"]["bytes"]), pixels[4 * y : 4 * y + 4, 4 * x : 4 * x + 4])
        vector, weight = numbers(told["patch"]["vector"]), numbers(told["patch"]["weight"])
        own = numbers(told["token"])
        assert own[feature] == pytest.approx(float(vector @ weight) + told["patch"]["bias"], abs=1e-5)
        assert np.array_equal(own, seen["encoder.front.embeddings"][0, place - 1].numpy())
        assert numbers(told["output"]) == pytest.approx(own + numbers(told["position"]), abs=1e-6)
        assert np.array_equal(numbers(told["output"]), seen["encoder.front.output"][0, place].numpy())


def test_the_class_token_has_no_patch(viewed):
    bundle, handlers, _, found = viewed
    told = handlers.senses.picture_token(TokenRequest(picture=found["picture"], place=0))
    assert told["patch"] is None
    assert np.array_equal(numbers(told["token"]), bundle.model.encoder.front.class_token.detach()[0, 0].numpy())


def test_attention_is_the_pass_s_own_and_rollout_the_library_s(viewed):
    bundle, handlers, _, found = viewed
    with trace(bundle.model, only=["*.self_attn.weights"]) as seen, torch.inference_mode():
        bundle.model(as_tensor([numbers(found["pixels"]).copy()], bundle.preprocessing.picture))
    maps = [seen[f"encoder.layers.{layer}.self_attn.weights"][0] for layer in range(2)]
    for layer in range(2):
        request = PictureAttentionRequest(picture=found["picture"], layer=layer, query=4)
        told = handlers.senses.picture_attention(request)
        assert np.array_equal(numbers(told["weights"]), maps[layer][:, 4].numpy())
        assert numbers(told["rollout"]) == pytest.approx(roll_out(maps[: layer + 1])[4].numpy(), abs=1e-6)
        assert numbers(told["rollout"]).sum() == pytest.approx(1.0, abs=1e-5)


def test_what_is_not_there_is_refused(viewed):
    _, handlers, _, found = viewed
    with pytest.raises(Refused, match="no token 10"):
        handlers.senses.picture_token(TokenRequest(picture=found["picture"], place=10))
    with pytest.raises(ValueError, match="feature 24 does not exist"):
        handlers.senses.picture_token(TokenRequest(picture=found["picture"], place=0, feature=24))
    with pytest.raises(ValueError, match="layer 2 does not exist"):
        handlers.senses.picture_attention(PictureAttentionRequest(picture=found["picture"], layer=2, query=0))
    with pytest.raises(Refused, match="choose it again"):
        handlers.senses.picture_token(TokenRequest(picture="0" * 32, place=0))


def test_behind_a_stem_no_matrix_makes_a_token_from_its_patch():
    bundle = picture_model(channels=1, stem="convolution")
    senses = Handlers(ShownModel(bundle, "pictures"), Runs([])).senses
    found = senses.picture(picture_file())
    assert senses.picture_token(TokenRequest(picture=found["picture"], place=2))["patch"] is None


def test_convolutions_have_no_attention_to_look_at():
    bundle = convolution_model()
    senses = Handlers(ShownModel(bundle, "pictures"), Runs([])).senses
    found = senses.picture(picture_file())
    assert len(found["classes"]) == len(LABELS)
    with pytest.raises(ValueError, match="there are 0"):
        senses.picture_attention(PictureAttentionRequest(picture=found["picture"], layer=0, query=0))


def test_pictures_make_room_for_newer_ones():
    shown = ShownModel(picture_model(), "pictures")
    handlers = Handlers(shown, Runs([]))
    tokens = PatchTokens(shown, handlers.traces)
    pixels = read_upload(picture_file(width=12, height=12))
    numbered = as_tensor([pixels], shown.bundle.preprocessing.picture)
    for number in range(7):
        tokens.keep(PictureLook(f"{number:032x}", pixels, numbered, 12, 12))
    with pytest.raises(Refused, match="choose it again"):
        tokens.token(f"{0:032x}", 0, 0)
    assert tokens.token(f"{6:032x}", 0, 0)["place"] == 0
