"""Overlays: the background stays, rims are drawn, neighbours differ in colour."""

import numpy as np

from clearformer.figures.mask_overlay import colours, overlay


def test_what_is_background_stays_as_it_is_and_rims_are_solid():
    pixels = np.arange(48, dtype=np.uint8).reshape(6, 8, 1)
    mask = np.zeros((6, 8), dtype=np.uint16)
    mask[1:5, 1:5], mask[1:5, 5:7] = 1, 2
    drawn = overlay(pixels, mask)
    assert drawn.shape == (6, 8, 3)
    assert (drawn[mask == 0] == pixels[mask == 0]).all()
    own = colours(2)
    assert (drawn[1, 1] == own[0]).all()
    assert (drawn[2, 4] == own[0]).all()  # where two things touch, both have a rim
    assert (drawn[2, 5] == own[1]).all()
    assert (drawn[2, 2] != own[0]).any()
    assert (drawn[2, 2] != pixels[2, 2]).any()


def test_an_empty_mask_changes_nothing():
    pixels = np.full((3, 4, 3), 77, dtype=np.uint8)
    assert (overlay(pixels, np.zeros((3, 4), dtype=np.uint16)) == pixels).all()


def test_neighbours_in_number_are_far_apart_in_colour():
    own = colours(50).astype(int)
    assert np.abs(np.diff(own, axis=0)).max(axis=1).min() > 100
