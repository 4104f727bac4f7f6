"""Convolutions instead of attention over a picture's places: the same interface, and a horizon that ends."""

import pytest
import torch

from clearformer.foundation import settings
from clearformer.model.baselines.picture_convolution import PictureConvolutionLayer
from clearformer.model.build import build
from clearformer.model.config import FrontConfig, HeadConfig, ModelConfig, PositionConfig
from clearformer.model.cost import count_cost
from clearformer.model.described import described
from clearformer.model.families import FAMILIES
from clearformer.model.trace import trace


def configured(layers=2, *, stem="patches", pool="mean", **choices):
    sizes = {
        "dim": 16, "layers": layers, "position": PositionConfig(kind="none"),
        "front": FrontConfig(kind="patches", picture=28, patch=4, channels=1, class_token=False, stem=stem),
        "head": HeadConfig(kind="class", labels=3, pool=pool),
    }  # fmt: skip
    return FAMILIES["convolution"](**sizes | choices)


def pictures(count=3):
    return torch.randn(count, 1, 28, 28, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("stem", ["patches", "convolution"])
@pytest.mark.parametrize("pool", ["mean", "weighted"])
def test_a_picture_alone_is_the_picture_in_company(stem, pool):
    torch.manual_seed(1)
    model = build(configured(stem=stem, pool=pool)).eval()
    with torch.inference_mode():
        together = model(pictures())
        assert together.shape == (3, 3)
        for row, one in enumerate(pictures()):
            torch.testing.assert_close(model(one[None])[0], together[row], rtol=1e-5, atol=1e-5)


def changed_places(layers):
    """Which of 7 × 7 places of the last layer notice that the patch in the corner was changed."""
    torch.manual_seed(1)
    model = build(configured(layers)).eval()
    other = pictures(1).clone()
    other[..., :4, :4] += 1
    states = []
    for given in (pictures(1), other):
        with trace(model, only=["encoder.output"]) as seen, torch.inference_mode():
            model(given)
        states.append(seen["encoder.output"][0])
    return (states[0] != states[1]).any(dim=-1).view(7, 7)


def test_each_layer_sees_two_places_further():
    for layers in (1, 2, 3):
        seen = changed_places(layers)
        near = torch.arange(7) <= 2 * layers
        assert torch.equal(seen, near[:, None] & near[None])


def test_a_layer_without_its_convolutions_changes_nothing():
    layer = PictureConvolutionLayer(8)
    torch.nn.init.zeros_(layer.convs[1].weight)
    x = torch.randn(2, 3, 3, 8)
    assert torch.equal(layer(x), x)


def test_its_description_builds_it_again():
    config = configured(stem="convolution")
    again = settings.parse(ModelConfig, described(config), "config.json")
    assert build(again).state_dict().keys() == build(config).state_dict().keys()
    cost = count_cost(config)
    assert cost.total == sum(one.numel() for one in build(config).parameters())
    assert cost.flops_per_token > 0


def test_what_does_not_fit_is_refused_by_name():
    with pytest.raises(ValueError, match="the kernel must be odd, not 4"):
        PictureConvolutionLayer(8, kernel=4)
    with pytest.raises(ValueError, match=r"set front\.class_token to false"):
        configured(front=FrontConfig(kind="patches", picture=28, patch=4))
    with pytest.raises(ValueError, match="has no head for boxes"):
        configured(head=HeadConfig(kind="boxes", labels=2))
    with pytest.raises(ValueError, match="have no use for keep; leave it out"):
        build(configured())(pictures(), keep=torch.ones(3, 49, dtype=torch.bool))
