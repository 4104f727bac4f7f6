"""Instances from values: perfect values give the mask back, however things touch; errors are mended or left out."""

import numpy as np
import pytest

from clearformer.data.mask_crops import Crop, centres_of
from clearformer.data.mask_targets import offsets_of, rim_of
from clearformer.evaluation.mask_scores import overlaps, precision
from clearformer.inference.instances import InstanceReading, find_instances, in_order
from support.discs import disc


def values(mask, noise=0.0):
    """What a perfect network would say of a mask, its offsets a little off."""
    numbers = mask.astype(np.int32)
    offsets = offsets_of(Crop(np.zeros((*mask.shape, 1), np.uint8), numbers, centres_of(mask)), 1.0)
    offsets += np.random.default_rng(1).normal(size=offsets.shape) * noise
    return (mask > 0).astype(float), rim_of(numbers).astype(float), offsets


def touching(radius=7, gap=12):
    mask = np.zeros((50, 60), dtype=np.uint16)
    for number, (y, x) in enumerate(((12, 14), (12, 14 + gap), (12 + gap, 20), (40, 45)), start=1):
        mask[disc(mask.shape, y, x, radius) & (mask == 0)] = number
    return mask


@pytest.mark.parametrize("noise", [0.0, 1.0])
@pytest.mark.parametrize("reach", [1, 2])
def test_touching_discs_come_back(noise, reach):
    mask = touching()
    found = find_instances(*values(mask, noise), InstanceReading(reach=reach))
    assert found.max() == 4
    assert precision(overlaps(found, mask), 0.9) == 1
    assert ((found > 0) == (mask > 0)).all()


def test_numbers_follow_the_reading_order_without_gaps():
    mask = touching()
    found = find_instances(*values(mask), InstanceReading())
    firsts = [np.flatnonzero(found.ravel() == number)[0] for number in range(1, 5)]
    assert firsts == sorted(firsts)
    assert in_order(np.array([[0, 9, 9], [4, 0, 2]], dtype=np.int32)).tolist() == [[0, 1, 1], [2, 0, 3]]


def test_specks_are_left_out_and_what_has_no_votes_is_a_thing_of_its_own():
    mask = np.zeros((30, 30), dtype=np.uint16)
    mask[3:11, 3:11], mask[20:22, 20:22] = 1, 2
    foreground, rim, offsets = values(mask)
    assert find_instances(foreground, rim, offsets, InstanceReading(smallest=5)).max() == 1
    assert (
        find_instances(foreground, rim, offsets, InstanceReading(smallest=4)).max() == 2
    )  # four votes are too few for a seed
    scattered = offsets + np.random.default_rng(2).normal(size=offsets.shape) * 30
    found = find_instances(foreground, rim, scattered, InstanceReading(votes=60, smallest=5))
    assert (found[3:11, 3:11] == 1).all()


def test_a_loose_pixel_goes_to_its_neighbour_instead_of_being_cut():
    mask = touching()
    foreground, rim, offsets = values(mask)
    offsets[:, 12, 14] = (28, 31)  # votes for a disc far away
    found = find_instances(foreground, rim, offsets, InstanceReading())
    assert found[12, 14] == found[12, 13] > 0


def test_nothing_is_nothing():
    empty = np.zeros((8, 9))
    assert not find_instances(empty, empty, np.zeros((2, 8, 9)), InstanceReading()).any()


def test_things_lie_alike_in_a_mirror():
    """No side is preferred: the mirrored values give as many things of about the same areas."""
    mask = touching(radius=6, gap=9)
    foreground, rim, offsets = values(mask)
    plain = find_instances(foreground, rim, offsets, InstanceReading())
    turned = find_instances(foreground[:, ::-1], rim[:, ::-1], offsets[:, :, ::-1] * [[[1]], [[-1]]], InstanceReading())
    areas = [np.sort(np.bincount(one.ravel())[1:]) for one in (plain, turned)]
    assert np.abs(areas[0] - areas[1]).max() <= 3
