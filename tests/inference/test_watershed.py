"""Watershed on hand cases: water takes the low way, waters meet on the ridge, and nothing outside gets wet."""

import numpy as np

from clearformer.inference.watershed import watershed
from support.discs import disc


def test_two_waters_meet_on_the_ridge():
    ground = np.array([[0.1, 0.2, 0.9, 0.2, 0.1]])
    seeds = np.array([[1, 0, 0, 0, 2]])
    found = watershed(ground, seeds, np.ones((1, 5), dtype=bool))
    assert found[0, :2].tolist() == [1, 1]
    assert found[0, 3:].tolist() == [2, 2]
    assert found[0, 2] in (1, 2)


def test_a_low_way_around_is_quicker_than_a_high_one_across():
    ground = np.zeros((3, 5))
    ground[:2, 2] = 1.0  # a wall with a gate at the bottom
    seeds = np.zeros((3, 5), dtype=int)
    seeds[0, 0] = 1
    inside = np.ones((3, 5), dtype=bool)
    assert (watershed(ground, seeds, inside) == 1).all()
    seeds[0, 4] = 2
    found = watershed(ground, seeds, inside)
    assert found[0, 1] == 1
    assert found[0, 3] == 2


def test_touching_discs_are_parted_where_they_touch():
    shape = (21, 40)
    left, right = disc(shape, 10, 11, 9), disc(shape, 10, 28, 9)
    ground = -np.minimum(
        np.hypot(*(np.indices(shape) - np.array([10, 11])[:, None, None])),
        np.hypot(*(np.indices(shape) - np.array([10, 28])[:, None, None])),
    )
    seeds = np.zeros(shape, dtype=int)
    seeds[10, 11], seeds[10, 28] = 5, 9
    found = watershed(-ground, seeds, left | right)
    assert (found[left & ~right] == 5).mean() > 0.97
    assert (found[right & ~left] == 9).mean() > 0.97
    assert (found[~(left | right)] == 0).all()


def test_what_no_water_reaches_stays_dry():
    inside = np.array([[True, True, False, True]])
    found = watershed(np.zeros((1, 4)), np.array([[3, 0, 0, 0]]), inside)
    assert found.tolist() == [[3, 3, 0, 0]]
    assert not watershed(np.zeros((2, 2)), np.zeros((2, 2), dtype=int), np.ones((2, 2), dtype=bool)).any()


def test_every_pixel_that_is_connected_to_a_seed_gets_a_number_and_seeds_keep_theirs():
    random = np.random.default_rng(1)
    from scipy.ndimage import label

    for _ in range(5):
        ground, inside = random.random((20, 23)), random.random((20, 23)) < 0.7
        seeds = np.where((random.random((20, 23)) < 0.02) & inside, random.integers(1, 9, (20, 23)), 0)
        found = watershed(ground, seeds, inside)
        assert (found[seeds > 0] == seeds[seeds > 0]).all()
        pieces, _ = label(inside)
        wet = np.isin(pieces, np.unique(pieces[seeds > 0])) & inside
        assert ((found > 0) == wet).all()
        assert (watershed(ground, seeds, inside) == found).all()
