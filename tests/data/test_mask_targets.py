"""Targets: rims and offsets by hand, and what is outside the picture is not asked for."""

import numpy as np
import torch

from clearformer.data.collate import UNTAGGED
from clearformer.data.mask_crops import OUTSIDE, Crop, centres_of
from clearformer.data.mask_targets import class_batch, instance_batch, offsets_of, rim_of

NUMBERS = np.array(
    [
        [0, 1, 1, 1, 0, 0],
        [0, 1, 1, 1, 2, 2],
        [0, 1, 1, 1, 2, 2],
        [0, 0, 0, 0, 2, 2],
    ],
    dtype=np.int32,
)


def crop(numbers: np.ndarray) -> Crop:
    known = np.maximum(numbers, 0).astype(np.uint16)
    return Crop(np.zeros((*numbers.shape, 1), dtype=np.uint8), numbers, centres_of(known))


def test_a_rim_is_where_another_number_is_beside():
    rim = rim_of(NUMBERS)
    assert rim.astype(int).tolist() == [
        [0, 1, 0, 1, 0, 0],
        [0, 1, 0, 1, 1, 1],
        [0, 1, 1, 1, 1, 0],
        [0, 0, 0, 0, 1, 0],
    ]


def test_where_the_picture_ends_is_no_rim():
    numbers = np.ones((4, 4), dtype=np.int32)
    numbers[:2] = OUTSIDE
    assert not rim_of(numbers).any()


def test_every_pixel_points_at_the_centre_of_its_own_instance():
    offsets = offsets_of(crop(NUMBERS), 2.0)
    y, x = np.nonzero(NUMBERS == 1)
    assert np.allclose(y + 2 * offsets[0, y, x], 1)
    assert np.allclose(x + 2 * offsets[1, y, x], 2)
    y, x = np.nonzero(NUMBERS == 2)
    assert np.allclose(y + 2 * offsets[0, y, x], 2)
    assert np.allclose(x + 2 * offsets[1, y, x], 4.5)
    assert not offsets[:, NUMBERS == 0].any()


def test_batches_leave_out_what_is_not_asked_for():
    numbers = NUMBERS.copy()
    numbers[:, 0] = OUTSIDE
    pictures = torch.zeros(2, 1, 4, 6)
    batch = instance_batch([crop(numbers), crop(NUMBERS)], pictures, 2.0)
    assert batch.keep[0, :, 0].any().item() is False
    assert batch.keep[1].all()
    assert batch.foreground.sum().item() == 2 * (NUMBERS > 0).sum()
    assert len(batch.take(slice(1))) == 1
    classes = class_batch([crop(numbers)], pictures[:1], void=2).classes[0].numpy()
    assert (classes[:, 0] == UNTAGGED).all()
    assert (classes[NUMBERS == 2] == UNTAGGED).all()
    assert (classes[NUMBERS == 1] == 1).all()
