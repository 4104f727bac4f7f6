"""A table of positions for more patches than there are becomes one for as many, at import, once."""

import pytest
import torch
import torch.nn.functional as F

from clearformer.interop.resized_positions import TABLE, ResizedPositions, for_pictures_of
from clearformer.model.config import FrontConfig
from clearformer.model.families import vit


class Held:
    def __init__(self, tensors):
        self.tensors = tensors
        self.shapes = {name: tuple(one.shape) for name, one in tensors.items()}

    def read(self, name):
        return self.tensors[name]


def held():
    return Held({f"dinov2.{TABLE}": torch.randn(1, 1 + 16, 6), "other": torch.randn(1, 17, 6)})


def test_the_first_place_stays_and_the_square_is_interpolated():
    store = held()
    resized = ResizedPositions(store, 4, 2)
    assert resized.shapes == {f"dinov2.{TABLE}": (1, 5, 6), "other": (1, 17, 6)}
    table, old = resized.read(f"dinov2.{TABLE}"), store.tensors[f"dinov2.{TABLE}"]
    assert torch.equal(table[:, 0], old[:, 0])
    square = old[:, 1:].reshape(1, 4, 4, 6).permute(0, 3, 1, 2)
    expected = F.interpolate(square, size=(2, 2), mode="bicubic")
    torch.testing.assert_close(table[:, 1:], expected.permute(0, 2, 3, 1).reshape(1, 4, 6))
    assert resized.read("other") is store.tensors["other"]


def test_the_configuration_follows_and_a_size_must_divide():
    config = vit(dim=6, heads=1, front=FrontConfig(kind="patches", picture=12, patch=3))
    other, _, note = for_pictures_of(config, held(), 6)
    assert other.front.picture == 6
    assert "4×4 patches were interpolated to 2×2" in note
    with pytest.raises(ValueError, match="pictures of 7×7 do not divide into patches of 3×3"):
        for_pictures_of(config, held(), 7)
