"""The score from which on boxes are given: the best F1, against every other threshold."""

import numpy as np
import pytest

from clearformer.evaluation.box_precision import PictureBoxes
from clearformer.evaluation.box_threshold import best_threshold, right_ones


def boxes(rows, labels, scores=()):
    return PictureBoxes(np.array(rows, dtype=float).reshape(-1, 4), labels, scores)


def f1_at(threshold, found, wanted):
    right = said = 0
    for mine, true in zip(found, wanted, strict=True):
        kept = [number for number, score in enumerate(mine.scores) if score >= threshold]
        part = boxes(mine.boxes[kept], [mine.labels[n] for n in kept], [mine.scores[n] for n in kept])
        right += sum(right_ones(part, true))
        said += len(kept)
    return 2 * right / (said + sum(len(true.labels) for true in wanted))


@pytest.mark.parametrize("seed", range(6))
def test_no_other_threshold_is_better(seed):
    random = np.random.default_rng(seed)
    found, wanted = [], []
    for _ in range(8):
        low = random.uniform(0, 50, (4, 2))
        true = np.concatenate((low, low + 12), axis=1)
        wanted.append(boxes(true, random.integers(0, 2, 4).tolist()))
        near = true + random.normal(0, 3, true.shape)
        found.append(boxes(near, wanted[-1].labels, random.uniform(0, 1, 4).tolist()))
    threshold, f1 = best_threshold(found, wanted)
    assert f1_at(threshold, found, wanted) == pytest.approx(f1, abs=0.02)  # rounded down to be written
    assert all(f1_at(other, found, wanted) <= f1 + 1e-9 for other in np.linspace(0, 1, 101))


def test_an_object_is_taken_once_by_the_surest():
    true = boxes([(0, 0, 10, 10)], [0])
    mine = boxes([(0, 0, 10, 9), (0, 0, 10, 10), (0, 0, 10, 10)], [0, 0, 1], [0.9, 0.5, 0.95])
    assert right_ones(mine, true) == [True, False, False]


def test_where_nothing_is_right_it_is_a_half():
    assert best_threshold([boxes([], [], [])], [boxes([(0, 0, 5, 5)], [0])]) == (0.5, 0.0)
    assert best_threshold([boxes([(0, 0, 9, 9)], [0], [0.3])], [boxes([], [])]) == (0.5, 0.0)
