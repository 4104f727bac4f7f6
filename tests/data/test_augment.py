"""Changed pictures: nothing is invented, nothing is lost beyond the edge, and the generator decides everything."""

import numpy as np
import pytest
import torch

from clearformer.data.augment import Changes, change, rectangle

BLANK = torch.tensor([0.25])
EVERYTHING = Changes(shift=1, flip=True, zoom=0.2, rotate=10, colour=0.3, erase=0.3)


def pictures(count=60, channels=1, size=6):
    return torch.rand(count, channels, size, size, generator=torch.Generator().manual_seed(1))


def changed(x, seed=0, **how):
    return change(x, Changes(**how), np.random.default_rng(seed), blank=BLANK.expand(x.size(1)))


def test_without_a_choice_nothing_changes():
    assert torch.equal(changed(pictures()), pictures())
    assert not Changes().any
    assert EVERYTHING.any


def test_a_moved_picture_is_the_same_inside_and_repeats_its_edge():
    seen = set()
    for before, moved in zip(pictures(), changed(pictures(), shift=2), strict=True):
        [(down, right)] = [
            (down, right)
            for down in range(-2, 3)
            for right in range(-2, 3)
            if torch.equal(
                moved[0, max(0, down) : 6 + min(0, down), max(0, right) : 6 + min(0, right)],
                before[0, max(0, -down) : 6 - max(0, down), max(0, -right) : 6 - max(0, right)],
            )
        ]
        seen.add((down, right))
        if down > 0:
            assert torch.equal(moved[0, 0], moved[0, down])
    assert {down for down, _ in seen} == {right for _, right in seen} == {-2, -1, 0, 1, 2}


def test_about_half_are_mirrored():
    x = pictures(400)
    flipped = sum(torch.equal(one, before.flip(-1)) for one, before in zip(changed(x, flip=True), x, strict=True))
    assert flipped == pytest.approx(200, abs=4 * 100**0.5)


def blob(size=33):
    """A bright spot to the right of the middle: where it goes says what was done."""
    x = torch.zeros(1, 1, size, size)
    x[0, 0, size // 2 - 1 : size // 2 + 2, -8:-5] = 1
    return x.expand(200, -1, -1, -1)


def centres(x):
    """Where the light is, seen from the middle: N, right and down, in pixels."""
    places = torch.arange(x.size(-1)) - (x.size(-1) - 1) / 2
    weight = x[:, 0] / x[:, 0].sum(dim=(1, 2), keepdim=True)
    return torch.stack([(weight * places).sum(dim=(1, 2)), (weight * places[:, None]).sum(dim=(1, 2))], dim=-1)


def test_rotation_keeps_the_distance_from_the_middle_and_stays_within_its_angle():
    before, after = centres(blob()), centres(changed(blob(), rotate=20))
    assert after.norm(dim=-1).numpy() == pytest.approx(before.norm(dim=-1).numpy(), rel=0.02)
    angles = torch.rad2deg(torch.atan2(after[:, 1], after[:, 0]))
    assert angles.abs().max() <= 20.5
    assert angles.min() < -15
    assert angles.max() > 15


def test_zoom_moves_the_light_outwards_or_inwards_as_far_as_it_may():
    distance = centres(changed(blob(), zoom=0.25)).norm(dim=-1) / centres(blob()).norm(dim=-1)
    assert 0.79 < distance.min() < 0.83
    assert 1.2 < distance.max() < 1.26


def test_a_moved_and_zoomed_picture_is_moved_by_pixels():
    moved = centres(changed(blob(), zoom=1e-9, shift=3)) - centres(blob())
    assert moved.abs().max() <= 3.01
    assert moved.amax(dim=0).min() > 2.5
    assert moved.amin(dim=0).max() < -2.5


def test_colours_stay_colours_and_a_grey_picture_stays_grey():
    found = changed(pictures(200, channels=3), colour=0.4)
    assert found.min() >= 0
    assert found.max() <= 1
    grey = pictures(20).expand(-1, 3, -1, -1)
    assert torch.allclose(*changed(grey, colour=0.4)[:, :2].unbind(1), atol=1e-6)
    assert not torch.allclose(changed(grey, colour=0.4), grey, atol=0.05)


def test_half_lose_a_rectangle_of_the_blank_colour():
    x = 0.5 + pictures(300, size=16) / 2
    gone = changed(x, erase=0.4) == 0.25
    share = gone.float().mean(dim=(1, 2, 3))
    assert 110 < int((share > 0).sum()) < 160  # half, without those whose rectangle misses every pixel
    assert share.max() <= 0.45
    for mask in gone[share > 0]:
        rows, columns = mask[0].any(dim=1), mask[0].any(dim=0)
        assert torch.equal(mask[0], rows[:, None] & columns[None])  # a rectangle and nothing else


def test_a_rectangle_by_hand():
    """A quarter of four by four pixels around the middle."""
    ones = np.ones(1)
    found = rectangle(4, 4, ones / 4, ones, np.full((2, 1), 0.5))
    assert found[0].astype(int).tolist() == [[0, 0, 0, 0], [0, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 0]]
    assert rectangle(4, 4, ones * 0, ones, np.full((2, 1), 0.5)).sum() == 0
    tall = rectangle(4, 4, ones / 2, ones * 2**0.5, np.full((2, 1), 0.5))[0]  # four high, two wide
    assert tall.all(axis=0).tolist() == [False, True, True, False]


def test_the_generator_decides_everything():
    x = pictures(8, channels=3, size=9)
    blank = BLANK.expand(3)
    one, same, other = (change(x, EVERYTHING, np.random.default_rng(seed), blank=blank) for seed in (4, 4, 5))
    assert torch.equal(one, same)
    assert not torch.allclose(one, other, atol=0.05)


@pytest.mark.parametrize("wrong", [{"zoom": 1.0}, {"colour": -0.1}, {"erase": 2.0}, {"shift": -1}, {"rotate": -5.0}])
def test_what_cannot_be_is_refused_by_its_name(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Changes(**wrong)
