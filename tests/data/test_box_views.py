"""Views of pictures with boxes: boxes move with the pixels, drawn from the seed alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearformer.data.box_views import Marked, ViewConfig, crop, draw_view, paste, recolour, turn
from support.toy_boxes import KINDS, draw_many

VIEWS = ViewConfig(symmetry="all", paste=3)


def toys(count, seed=1):
    return [
        Marked(one.pixels, np.array(one.boxes, np.float32), np.array([KINDS.index(n) for n in one.names]))
        for one in draw_many(count, seed)
    ]


def spot(left, top, wide, high, shape=(12, 20)):
    """One white box in a black picture."""
    pixels = np.zeros((*shape, 3), dtype=np.uint8)
    pixels[top : top + high, left : left + wide] = 255
    return Marked(pixels, np.array([[left, top, left + wide, top + high]], np.float32), np.array([0]))


def white(pixels):
    rows, columns = np.nonzero(pixels[..., 0] > 190)  # grey is what lies outside
    return [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]


@settings(deadline=None)
@given(st.integers(0, 7), st.integers(0, 15), st.integers(0, 8), st.integers(1, 5), st.integers(1, 4))
def test_boxes_turn_with_the_pixels(symmetry, left, top, wide, high):
    made = turn(spot(left, top, wide, high), symmetry)
    assert made.boxes[0].tolist() == white(made.pixels)
    assert made.pixels.shape == ((12, 20, 3) if symmetry % 2 == 0 else (20, 12, 3))


def test_the_eight_symmetries_are_different_and_a_group():
    pixels = np.arange(4, dtype=np.uint8).reshape(2, 2, 1)
    one = Marked(pixels, np.zeros((0, 4), np.float32), np.zeros(0, int))
    made = {turn(one, symmetry).pixels.tobytes() for symmetry in range(8)}
    assert len(made) == 8
    assert {turn(turn(one, a), b).pixels.tobytes() for a in range(8) for b in range(8)} == made


@settings(deadline=None)
@given(st.integers(-4, 6), st.integers(-4, 4), st.integers(12, 24), st.integers(10, 20))
def test_boxes_are_where_the_pixels_of_a_window_are(left, top, width, height):
    made = crop(spot(8, 4, 4, 4), left, top, width, height, size=240, least=0.9)
    if not len(made.labels):
        return
    assert made.boxes[0].tolist() == pytest.approx(white(made.pixels), abs=0.51 * 240 / 10)


def test_a_box_is_cut_at_the_window_and_left_out_if_too_little_is_seen():
    one = spot(4, 4, 8, 4)
    half = crop(one, 8, 0, 12, 12, size=12, least=0.5)
    assert half.boxes.tolist() == [[0, 4, 4, 8]]
    assert len(crop(one, 8, 0, 12, 12, size=12, least=0.6).labels) == 0
    assert len(crop(one, 13, 0, 7, 12, size=12, least=0.0001).labels) == 0


def test_outside_of_the_picture_it_is_grey():
    made = crop(spot(0, 0, 20, 12), -20, -12, 60, 36, size=60, least=0.5)
    assert made.pixels[5, 5].tolist() == [128, 128, 128]
    assert made.pixels[30, 30].tolist() == [255, 255, 255]


def test_the_whole_is_stretched_to_a_square():
    made = crop(spot(5, 3, 10, 6), 0, 0, 20, 12, size=60, least=0.0)
    assert made.boxes.tolist() == [[15, 15, 45, 45]]


def test_a_view_is_a_function_of_its_seed():
    rows = toys(4)
    views = [
        [draw_view(one, rows, np.random.default_rng((3, seed)), VIEWS, size=32) for one in rows] for seed in (1, 1, 2)
    ]
    for one, same, other in zip(*views, strict=True):
        assert (one.pixels == same.pixels).all()
        assert (one.boxes == same.boxes).all()
        assert (one.pixels != other.pixels).any()


@settings(deadline=None)
@given(st.integers(0, 10_000))
def test_boxes_of_a_view_lie_in_it_and_have_an_area(seed):
    rows = toys(3, seed % 5)
    made = draw_view(rows[0], rows, np.random.default_rng(seed), VIEWS, size=48)
    assert made.pixels.shape == (48, 48, 3)
    assert len(made.labels) == len(made.boxes)
    assert (made.boxes >= 0).all()
    assert (made.boxes <= 48).all()
    assert (made.boxes[:, 2:] > made.boxes[:, :2]).all()


def test_pasted_objects_are_there_with_their_class_and_cover_little():
    rows = toys(6)
    before = rows[0]
    kept = before.pixels.copy()
    made = [paste(before, rows, np.random.default_rng(seed), 3) for seed in range(20)]
    grown = [one for one in made if len(one.labels) > len(before.labels)]
    assert len(grown) > 10
    assert (before.pixels == kept).all()  # the source is left as it was
    for one in grown:
        assert (one.boxes[: len(before.boxes)] == before.boxes).all()
        left, top, right, bottom = one.boxes[-1].astype(int)
        middle = one.pixels[(top + bottom) // 2, (left + right) // 2].astype(int)
        wanted = {"disc": (250, 240, 90), "square": (20, 10, 120)}[KINDS[one.labels[-1]]]
        assert np.abs(middle - wanted).max() < 12


def test_rare_classes_are_pasted_as_often_as_common_ones():
    boxes = np.array([[x, 0, x + 5, 5] for x in range(0, 45, 5)] + [[0, 30, 5, 35]], np.float32)
    donor = Marked(np.zeros((40, 60, 3), np.uint8), boxes, np.array([0] * 9 + [1]))
    empty = Marked(np.zeros((40, 60, 3), np.uint8), np.zeros((0, 4), np.float32), np.zeros(0, int))
    labels = [label for seed in range(300) for label in paste(empty, [donor], np.random.default_rng(seed), 1).labels]
    assert 0.35 < np.mean(labels) < 0.65


def test_colours_change_and_places_do_not():
    one = toys(1)[0]
    made = recolour(one, np.random.default_rng(1), 0.3)
    assert (made.boxes == one.boxes).all()
    assert (made.pixels != one.pixels).any()
    assert recolour(one, np.random.default_rng(1), 0.3).pixels.tobytes() == made.pixels.tobytes()


def test_a_grey_picture_and_one_without_objects_have_views_too():
    one = Marked(np.full((9, 7, 1), 77, np.uint8), np.zeros((0, 4), np.float32), np.zeros(0, int))
    made = draw_view(one, [one], np.random.default_rng(1), VIEWS, size=16)
    assert made.pixels.shape == (16, 16, 1)
    assert made.boxes.shape == (0, 4)


@pytest.mark.parametrize("wrong", [{"smallest": 0}, {"smallest": 2}, {"squeeze": 1}, {"colour": -1}, {"paste": -1}])
def test_settings_out_of_bounds_are_refused(wrong):
    with pytest.raises(ValueError, match="views"):
        ViewConfig(**wrong)
