"""What the development part decides of a detector's boxes, on boxes whose best choice is known."""

import numpy as np
import pytest

from clearformer.evaluation.box_precision import PictureBoxes
from clearformer.folder.preprocessing import Outcome
from clearformer.tasks.box_choices import SHARES, best_outcome, only, thinned_boxes

PLACES = np.array([[0, 0, 10, 10], [1, 0, 11, 10], [40, 40, 60, 60], [44, 40, 64, 60]], dtype=np.float64)
TRUE = PictureBoxes(PLACES[[0, 2]], [0, 1])
TWICE = PictureBoxes(PLACES[[2, 3, 0, 1]], [1, 1, 0, 0], [0.9, 0.8, 0.3, 0.2])  # they share 0.67 and 0.82


def test_each_class_has_its_own_threshold_and_nothing_is_said_twice():
    found, f1 = best_outcome([TWICE], [TRUE], Outcome(), classes=2)
    assert found.duplicates == 0.5
    assert f1 == 1.0
    assert found.thresholds == pytest.approx((0.3, 0.9))
    assert found.threshold == pytest.approx(0.3)


def test_what_is_said_once_is_left_alone():
    close = PictureBoxes(PLACES[2:], [0, 0], [0.9, 0.8])  # two objects that overlap, both of them there
    found, f1 = best_outcome([close], [PictureBoxes(PLACES[2:], [0, 0])], Outcome(), classes=1)
    assert (found.duplicates, f1) == (SHARES[0], 1.0)


def test_a_class_that_is_never_right_has_the_threshold_of_all():
    wrong = PictureBoxes(PLACES[[0, 2]], [0, 0], [0.7, 0.6])
    found, _ = best_outcome([wrong], [TRUE], Outcome(), classes=2)
    assert found.thresholds == pytest.approx((0.7, 0.7))


def test_the_surest_stays():
    assert thinned_boxes(TWICE, 0.5).scores == [0.9, 0.3]
    assert thinned_boxes(TWICE, 0.7).scores == [0.9, 0.8, 0.3]
    assert only(TWICE, 1).scores == [0.9, 0.8]
    assert thinned_boxes(PictureBoxes(np.zeros((0, 4)), [], []), 0.5).labels == []
