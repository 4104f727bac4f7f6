"""Scores of masks: by hand, by brute force over pairs, and by their promises."""

import numpy as np
import pytest

from clearformer.evaluation.mask_scores import dice, overlaps, precision, score_classes_of_pixels, score_instances
from support.discs import discs

WANTED = np.array([[1, 1, 0, 2, 2], [1, 1, 0, 2, 2], [0, 0, 0, 3, 3]])


def test_by_hand():
    found = np.array([[7, 7, 0, 4, 4], [7, 0, 0, 4, 4], [9, 0, 0, 4, 4]])  # 1 nearly, 2 and 3 as one, one too many
    assert dice(found > 0, WANTED > 0) == pytest.approx(2 * 9 / (10 + 10))
    shares = overlaps(found, WANTED)
    assert shares.tolist() == [[0, pytest.approx(4 / 6), pytest.approx(2 / 6)], [0.75, 0, 0], [0, 0, 0]]
    assert precision(shares) == pytest.approx(2 / (2 + 1 + 1))  # 9 is wrong, 3 is missing
    assert precision(shares, 0.7) == pytest.approx(1 / (1 + 2 + 2))


def brute(found, wanted, threshold):
    """Every pair of instances as sets of pixels, matched greedily from the best."""
    sets = [
        [set(zip(*np.nonzero(one == number), strict=True)) for number in np.unique(one) if number]
        for one in (found, wanted)
    ]
    pairs = sorted(
        ((len(a & b) / len(a | b), i, j) for i, a in enumerate(sets[0]) for j, b in enumerate(sets[1])), reverse=True
    )
    left, right, hits = set(range(len(sets[0]))), set(range(len(sets[1]))), 0
    for share, i, j in pairs:
        if share > threshold and i in left and j in right:
            left.discard(i)
            right.discard(j)
            hits += 1
    return hits / (hits + len(left) + len(right))


@pytest.mark.parametrize("seed", range(8))
def test_against_brute_force(seed):
    found, wanted = discs(seed, count=4)[1], discs(seed + 100, count=4)[1]
    mixed = np.where(np.arange(24)[:, None] < 14, wanted, found)
    for threshold in (0.5, 0.75):
        assert precision(overlaps(mixed, wanted), threshold) == pytest.approx(brute(mixed, wanted, threshold))


def test_names_do_not_matter_and_a_perfect_mask_is_one():
    masks = [discs(seed, count=4)[1] for seed in range(5)]
    other = [np.where(mask > 0, 60_000 - mask.astype(int), 0) for mask in masks]
    scores = score_instances(other, masks)
    assert (scores["dice"], scores["ap50"], scores["ap"]) == (1, 1, 1)
    assert (scores["ap50_low"], scores["ap50_high"]) == (1, 1)
    assert scores["found"] == scores["instances"]


def test_nothing_wanted_and_nothing_found_is_right():
    none = np.zeros((4, 4), dtype=int)
    assert score_instances([none], [none])["ap50"] == 1
    assert score_instances([none], [none])["dice"] == 1
    one = none.copy()
    one[0, 0] = 1
    assert score_instances([one], [none])["ap50"] == 0
    assert score_instances([none], [one])["dice"] == 0


def test_pictures_count_alike_and_the_interval_holds_the_mean():
    masks = [discs(seed, count=4)[1] for seed in range(6)]
    worse = [mask if number else np.zeros_like(mask) for number, mask in enumerate(masks)]
    scores = score_instances(worse, masks)
    assert scores["ap50"] == pytest.approx(5 / 6)
    assert scores["ap50_low"] < 5 / 6 < scores["ap50_high"]
    with pytest.raises(ValueError, match="6 masks cannot be compared with 5"):
        score_instances(worse, masks[:5])


def test_classes_by_hand():
    wanted, found = np.array([[0, 0, 1, 1, 2, 9]]), np.array([[0, 1, 1, 1, 0, 0]])
    scores = score_classes_of_pixels([found], [wanted], ("a", "b", "c", "d"), void=9)
    assert scores["iou_a"] == pytest.approx(1 / 3)
    assert scores["iou_b"] == pytest.approx(2 / 3)
    assert scores["iou_c"] == 0
    assert "iou_d" not in scores  # neither there nor found
    assert scores["mean_iou"] == pytest.approx(1 / 3)
    assert scores["pixel_accuracy"] == pytest.approx(3 / 5)
    assert (
        scores["mean_iou_low"] == scores["mean_iou_high"] == pytest.approx(1 / 3)
    )  # one picture, drawn again and again
