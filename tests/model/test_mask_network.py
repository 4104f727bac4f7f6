"""The network for masks: shapes, sizes that fit, everything learns, and edges survive the way down and back."""

import pytest
import torch

from clearformer.model.build import build
from clearformer.model.config import FrontConfig, HeadConfig, ModelConfig
from clearformer.model.described import described
from clearformer.model.families import FAMILIES
from clearformer.model.mask_network import MaskDecoder, MaskNetwork, Pyramid


def config(**changes) -> ModelConfig:
    front = FrontConfig(kind="patches", picture=16, patch=4, channels=3, stem="convolution")
    head = HeadConfig(kind="masks", labels=5, decoder="convolution", narrowest=8)
    sizes = {"dim": 16, "hidden_dim": 24, "layers": 2, "heads": 2, "front": front, "head": head}
    return FAMILIES["vit"](**(sizes | changes))


@pytest.fixture
def model() -> MaskNetwork:
    torch.manual_seed(1)
    return build(config())


def test_every_pixel_has_a_value_for_every_channel(model):
    assert model(torch.randn(2, 3, 16, 16)).shape == (2, 5, 16, 16)
    maps = model.stem(torch.randn(2, 3, 16, 16))
    assert [tuple(one.shape[1:]) for one in maps] == [(8, 16, 16), (8, 8, 8), (16, 4, 4)]
    with pytest.raises(ValueError, match="pictures must be"):
        model(torch.randn(2, 3, 32, 32))


def test_every_weight_learns(model):
    model(torch.randn(2, 3, 16, 16)).square().mean().backward()
    for name, weight in model.named_parameters():
        assert weight.grad is not None, name
        assert weight.grad.abs().max() > 0, name


def test_a_far_corner_is_seen_through_the_transformer(model):
    """A convolution alone could not know of it: without the encoder's states nothing reaches that far."""
    model.eval()
    picture = torch.randn(1, 3, 16, 16)
    changed = picture.clone()
    changed[..., 15, 15] += 3
    with torch.inference_mode():
        moved = (model(changed) - model(picture)).abs().amax(dim=(0, 1))
    assert moved[0, 0] > 0
    assert moved[15, 15] > moved[0, 0]


def test_alone_as_in_a_batch(model):
    model.eval()
    pictures = torch.randn(3, 3, 16, 16)
    with torch.inference_mode():
        torch.testing.assert_close(model(pictures)[1:2], model(pictures[1:2]), rtol=1e-4, atol=1e-5)


def test_parts_of_other_depths_fit_together():
    stem = Pyramid(1, (4, 6), layers=2)
    maps = stem(torch.randn(1, 1, 6, 10))
    decoder = MaskDecoder(7, (4, 6), channels=2, layers=2)
    assert decoder(torch.randn(1, 7, 3, 5), maps).shape == (1, 2, 6, 10)


def test_the_description_says_what_this_head_has_and_no_more():
    plain = described(config())
    assert plain["head"] == {"kind": "masks", "labels": 5, "decoder": "convolution", "narrowest": 8}
    assert "class_token" not in plain["front"]
    squares = described(config(head=HeadConfig(kind="masks", labels=5)))
    assert squares["head"] == {"kind": "masks", "labels": 5, "decoder": "squares"}


def test_a_decoder_without_a_stem_is_refused():
    front = FrontConfig(kind="patches", picture=16, patch=4, channels=3)
    with pytest.raises(ValueError, match=r"set front\.stem to convolution"):
        config(front=front)
    with pytest.raises(ValueError, match="narrowest must be at least 1"):
        config(head=HeadConfig(kind="masks", labels=2, decoder="convolution", narrowest=0))
