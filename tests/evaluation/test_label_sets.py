"""Sets of labels: F1 by hand, and a threshold that is really the best."""

import numpy as np
import pytest

from clearformer.evaluation.label_sets import as_marks, best_threshold, score_label_sets

LABELS = ("a", "b", "c")


def test_by_hand():
    """a: right, found and wanted 1, 2, 1; b: 1, 1, 2. c does not occur."""
    found = as_marks([["a", "b"], ["a"]], LABELS)
    wanted = as_marks([["a", "b"], ["b"]], LABELS)
    scores = score_label_sets(found, wanted, interval=False)
    assert scores["micro_f1"] == pytest.approx(2 * 2 / 6)
    assert scores["macro_f1"] == pytest.approx((2 / 3 + 2 / 3) / 2)
    assert scores["subset_accuracy"] == 0.5


def test_all_right_is_one_also_without_labels():
    empty = as_marks([[], []], LABELS)
    assert set(score_label_sets(empty, empty, interval=False).values()) == {1.0}


def test_unknown_labels_are_left_out_and_intervals_hold_the_scores():
    draw = np.random.default_rng(1)
    wanted = draw.random((60, 3)) < 0.4
    found = wanted ^ (draw.random((60, 3)) < 0.2)
    scores = score_label_sets(found, wanted)
    for name in ("micro_f1", "macro_f1", "subset_accuracy"):
        assert scores[f"{name}_low"] < scores[name] < scores[f"{name}_high"]
    assert as_marks([["a", "zzz"]], LABELS).tolist() == [[True, False, False]]


def test_no_other_threshold_is_better():
    draw = np.random.default_rng(2)
    wanted = draw.random((200, 3)) < 0.3
    shares = np.clip(wanted * 0.3 + draw.random((200, 3)) * 0.5, 0, 1)
    best = best_threshold(shares, wanted)
    top = score_label_sets(shares >= best, wanted, interval=False)["micro_f1"]
    for one in np.arange(0.05, 0.96, 0.05):
        assert score_label_sets(shares >= one, wanted, interval=False)["micro_f1"] <= top + 1e-9
    assert best_threshold(wanted.astype(float), wanted) == pytest.approx(0.5)  # any would do: the middle


def test_unequal_tables_are_refused():
    with pytest.raises(ValueError, match="cannot be compared"):
        score_label_sets(np.zeros((2, 3), bool), np.zeros((3, 3), bool))
