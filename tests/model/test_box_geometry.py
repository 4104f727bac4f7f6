"""Boxes as centres and corners; overlap against a count of grid cells and the formula by hand."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from clearformer.model.box_geometry import area, from_corners, overlap, to_corners

EDGE = st.integers(0, 9)
BOX = st.tuples(EDGE, EDGE, st.integers(1, 6), st.integers(1, 6)).map(lambda b: (b[0], b[1], b[0] + b[2], b[1] + b[3]))


def cells(box):
    return {(x, y) for x in range(box[0], box[2]) for y in range(box[1], box[3])}


def test_corners_and_back():
    boxes = torch.rand(5, 4) + torch.tensor([0.0, 0.0, 0.1, 0.1])
    torch.testing.assert_close(from_corners(to_corners(boxes)), boxes)
    assert to_corners(torch.tensor([0.5, 0.5, 0.2, 0.4])).tolist() == pytest.approx([0.4, 0.3, 0.6, 0.7])


@settings(deadline=None)
@given(BOX, BOX)
def test_overlap_counts_the_cells_that_both_have(first, second):
    mine, other = cells(first), cells(second)
    iou, general = overlap(torch.tensor(first).float(), torch.tensor(second).float())
    union = len(mine | other)
    hull = cells(
        (min(first[0], second[0]), min(first[1], second[1]), max(first[2], second[2]), max(first[3], second[3]))
    )
    assert float(iou) == pytest.approx(len(mine & other) / union)
    assert float(general) == pytest.approx(
        len(mine & other) / union - (len(hull) - union) / len(hull), abs=1e-6
    )  # a difference of float32 numbers may be nearly 0
    assert float(area(torch.tensor(first))) == len(mine)


@settings(deadline=None)
@given(BOX, BOX, st.integers(2, 5))
def test_overlap_is_symmetric_and_blind_to_scale(first, second, scale):
    a, b = torch.tensor(first).float(), torch.tensor(second).float()
    for one, other in zip(overlap(a, b), overlap(scale * b, scale * a), strict=True):
        assert float(one) == pytest.approx(float(other), abs=1e-6)
        assert -1 <= float(one) <= 1


def test_the_further_away_the_worse_where_nothing_is_shared():
    still = torch.tensor([0.0, 0.0, 1.0, 1.0])
    said = [float(overlap(still, torch.tensor([x, 0.0, x + 1, 1.0]))[1]) for x in (1.0, 2.0, 5.0)]
    assert said == pytest.approx([0.0, -1 / 3, -4 / 6])


def test_boxes_without_area_give_numbers():
    iou, general = overlap(torch.zeros(4), torch.zeros(4))
    assert float(iou) == 0
    assert torch.isfinite(general)
