"""Moved and mirrored pictures: nothing is invented, nothing is lost beyond the edge."""

import numpy as np
import pytest

from clearformer.data.augment import move_picture


def picture():
    return np.random.default_rng(1).integers(0, 256, (6, 6, 1), dtype=np.uint8)


def test_without_a_choice_nothing_changes():
    assert np.array_equal(move_picture(picture(), np.random.default_rng(1), shift=0, flip=False), picture())


def test_a_moved_picture_is_the_same_inside_and_repeats_its_edge():
    seen = set()
    for seed in range(60):
        moved = move_picture(picture(), np.random.default_rng(seed), shift=2, flip=False)
        [(down, right)] = [
            (down, right)
            for down in range(-2, 3)
            for right in range(-2, 3)
            if np.array_equal(
                moved[max(0, down) : 6 + min(0, down), max(0, right) : 6 + min(0, right)],
                picture()[max(0, -down) : 6 - max(0, down), max(0, -right) : 6 - max(0, right)],
            )
        ]
        seen.add((down, right))
        if down > 0:
            assert np.array_equal(moved[0], moved[down])
    assert {down for down, _ in seen} == {right for _, right in seen} == {-2, -1, 0, 1, 2}


def test_about_half_are_mirrored():
    count = 200
    flipped = sum(
        np.array_equal(move_picture(picture(), np.random.default_rng(seed), shift=0, flip=True), picture()[:, ::-1])
        for seed in range(count)
    )
    assert flipped == pytest.approx(count / 2, abs=4 * (count / 4) ** 0.5)
