"""Tiles: nothing is cut, borders are blended, and a network that sees one pixel gives the whole picture's values."""

import itertools

import numpy as np
import pytest
import torch
from torch import nn

from clearformer.inference.tiles import cut_tile, in_tiles, starts, tile_places, weights


def tensor(tiles):
    return torch.from_numpy(np.stack(tiles)).permute(0, 3, 1, 2).float()


@pytest.mark.parametrize("length", [1, 5, 16, 17, 31, 32, 33, 100])
def test_tiles_cover_everything_from_end_to_end(length):
    places = starts(length, 16)
    covered = np.zeros(length, dtype=int)
    for start in places:
        covered[max(0, start) : start + 16] += 1
    assert covered.min() >= 1
    if length >= 16:
        assert (places[0], places[-1]) == (0, length - 16)
        assert all(after - before <= 8 for before, after in itertools.pairwise(places))


@pytest.mark.parametrize("shape", [(16, 16), (40, 23), (5, 9), (1, 50)])
def test_a_network_that_sees_single_pixels_gives_the_whole_picture_s_values(shape):
    pixels = np.random.default_rng(1).integers(0, 256, size=(*shape, 3), dtype=np.uint8)
    found = in_tiles(pixels, 16, lambda tiles: tensor(tiles)[:, :2] * 2 + 1, batch=3)
    torch.testing.assert_close(found, tensor([pixels])[0, :2] * 2 + 1, rtol=0, atol=1e-3)


def test_with_a_network_that_sees_neighbours_tiles_equal_the_whole_within_tolerance():
    """A 5 × 5 mean differs at the tiles' edges alone, and there the weights are low."""
    blur = nn.AvgPool2d(5, stride=1, padding=2, count_include_pad=False)
    pixels = np.random.default_rng(1).integers(0, 256, size=(70, 90, 1), dtype=np.uint8)
    whole = blur(tensor([pixels]))[0]
    found = in_tiles(pixels, 32, lambda tiles: blur(tensor(tiles)), batch=4)
    hard = torch.zeros_like(whole)
    for top in range(0, 70, 32):
        for left in range(0, 90, 32):
            tile = blur(tensor([cut_tile(pixels, top, left, 32)]))[0]
            part = hard[:, top : top + 32, left : left + 32]
            part += tile[:, : part.shape[1], : part.shape[2]]
    assert (found - whole).abs().max() < 10
    assert (found - whole).abs().mean() < (hard - whole).abs().mean() / 10  # than tiles side by side


def test_a_picture_that_is_one_tile_is_read_as_it_is():
    pixels = np.random.default_rng(1).integers(0, 256, size=(16, 16, 1), dtype=np.uint8)
    seen = []
    in_tiles(pixels, 16, lambda tiles: seen.extend(tiles) or tensor(tiles), batch=8)
    assert len(seen) == 1
    assert (seen[0] == pixels).all()


def test_how_many_tiles_are_read_at_once_changes_nothing():
    pixels = np.random.default_rng(1).integers(0, 256, size=(40, 40, 1), dtype=np.uint8)
    one, many = (in_tiles(pixels, 16, tensor, batch=batch) for batch in (1, 7))
    assert torch.equal(one, many)
    share = weights(16)
    assert share.max() <= 1
    assert share.min() > 0
    assert torch.equal(share, share.flip(0).T)


def test_tiles_stand_row_by_row():
    assert tile_places(16, 20, 16) == [(0, 0), (0, 4)]
    assert tile_places(24, 16, 16) == [(0, 0), (8, 0)]
    assert len(tile_places(40, 23, 16)) == len(starts(40, 16)) * len(starts(23, 16))
