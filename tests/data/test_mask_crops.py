"""Crops: picture and mask change as one, everything comes from the generator, and a mirror stands at the edges."""

import numpy as np
import pytest

from clearformer.data.mask_crops import OUTSIDE, CropChanges, centres_of, cut_crop, draw_crop, mirrored, stretched
from support.discs import discs

ALL = CropChanges(flip=True, turn=True, scale=1.5, light=0.3, invert=0.5)


def test_an_unchanged_crop_is_a_piece_of_the_picture():
    pixels, mask = discs(1)
    crop = cut_crop(pixels, mask, 8, (5, 7, 8))
    assert (crop.pixels == pixels[5:13, 7:15]).all()
    assert (crop.numbers == mask[5:13, 7:15]).all()
    assert crop.centres == pytest.approx(centres_of(mask) - (5, 7), abs=1e-4)


def test_beyond_an_edge_stands_a_mirror_of_which_nothing_is_asked():
    pixels, mask = discs(1, height=8, width=9)
    crop = cut_crop(pixels, mask, 12, (-2, -1, 12))
    padded = np.pad(pixels, ((2, 2), (1, 2), (0, 0)), mode="reflect")
    assert (crop.pixels == padded).all()
    assert (crop.numbers[2:10, 1:10] == mask).all()
    outside = np.ones((12, 12), dtype=bool)
    outside[2:10, 1:10] = False
    assert (crop.numbers[outside] == OUTSIDE).all()


def test_a_mirror_shows_a_row_as_often_as_need_be():
    assert mirrored(np.arange(-4, 8), 3).tolist() == [0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1]
    assert mirrored(np.arange(-2, 3), 1).tolist() == [0] * 5


@pytest.mark.parametrize("seed", range(6))
def test_picture_mask_and_centres_stay_together(seed):
    """Every disc has a brightness of its own: where the mask says 2, the picture is as bright as disc 2."""
    pixels, mask = discs(3, height=40, width=33)
    shades = {int(number): int(pixels[mask == number][0, 0]) for number in np.unique(mask) if number}
    plain = CropChanges(flip=True, turn=True, scale=1.5)
    crop = draw_crop(pixels, mask, 32, plain, np.random.default_rng(seed))
    assert crop.pixels.shape == (32, 32, 1)
    for number, shade in shades.items():
        inside = crop.numbers == number
        if inside.sum() < 30 or (crop.numbers == OUTSIDE).any():
            continue
        assert abs(np.median(crop.pixels[inside]) - shade) <= 1
        touches = inside[0].any() or inside[-1].any() or inside[:, 0].any() or inside[:, -1].any()
        if not touches:  # the whole disc is there, so its centre is the mean of what is seen
            assert np.argwhere(inside).mean(axis=0) == pytest.approx(crop.centres[number - 1], abs=0.7)


def test_what_is_drawn_comes_from_the_generator_alone():
    pixels, mask = discs(2, height=50, width=50)
    one, same, other = (draw_crop(pixels, mask, 24, ALL, np.random.default_rng(seed)) for seed in (5, 5, 6))
    assert (one.pixels == same.pixels).all()
    assert (one.numbers == same.numbers).all()
    assert (one.pixels != other.pixels).any()


def test_scaled_things_have_another_area():
    pixels, mask = discs(4, height=40, width=40, count=1)
    half, whole, twice = (cut_crop(pixels, mask, 40, (0, 0, side)) for side in (80, 40, 20))
    area = (whole.numbers == 1).sum()
    assert (half.numbers == 1).sum() == pytest.approx(area / 4, rel=0.3)
    assert (twice.numbers == 1).sum() <= 4 * area
    assert whole.pixels.std() == pytest.approx(pixels.std())


def test_brightness_is_spread_but_noise_is_not_blown_up():
    dark = np.tile(np.arange(20, 60, dtype=np.uint8), (40, 1))[..., None]
    spread = stretched(dark)
    assert (spread.min(), spread.max()) == (0, 255)
    assert (np.diff(spread[0, :, 0].astype(int)) >= 0).all()
    flat = np.full((10, 10, 1), 30, dtype=np.uint8)
    flat[0, 0] = 31
    assert int(stretched(flat).max()) <= 8  # eight times at most
