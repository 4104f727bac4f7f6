"""Distances between crowds of pictures, held against scipy, and the nearest neighbour against all distances."""

import numpy as np
import pytest

from clearformer.evaluation.painted import frechet_distance, nearest


def crowd(count, size, seed, scale=1.0, shift=0.0):
    draw = np.random.default_rng(seed)
    return draw.standard_normal((count, size)) @ draw.standard_normal((size, size)) * scale + shift


def test_the_distance_is_that_of_the_formula():
    linalg = pytest.importorskip("scipy.linalg")
    one, other = crowd(300, 6, 1), crowd(200, 6, 2, scale=0.5, shift=0.3)
    first, second = np.cov(one, rowvar=False), np.cov(other, rowvar=False)
    means = one.mean(axis=0) - other.mean(axis=0)
    root = np.real(linalg.sqrtm(first @ second))
    assert frechet_distance(one, other) == pytest.approx(means @ means + np.trace(first + second - 2 * root))
    assert frechet_distance(one, other) == pytest.approx(frechet_distance(other, one))


def test_a_crowd_is_nearest_to_itself():
    one = crowd(300, 6, 1)
    assert frechet_distance(one, one) == pytest.approx(0, abs=1e-6)
    assert frechet_distance(one, one + 2) == pytest.approx(24)  # the means alone differ: six features by two
    flat = np.zeros((5, 3))  # features that never change have no covariance
    assert frechet_distance(flat, flat) == 0
    with pytest.raises(ValueError, match="two crowds of at least two pictures"):
        frechet_distance(one[:1], one)


def test_the_nearest_is_found():
    draw = np.random.default_rng(1)
    pictures, among = draw.random((40, 9)).astype(np.float32), draw.random((70, 9)).astype(np.float32)
    among[33] = pictures[5]
    every = np.sqrt(((pictures[:, None] - among) ** 2).mean(axis=-1))
    found = nearest(pictures, among)
    assert np.array_equal(found.places, every.argmin(axis=1))
    assert found.distances == pytest.approx(every.min(axis=1), abs=1e-6)
    assert (found.places[5], found.distances[5]) == (33, 0)
    with pytest.raises(ValueError, match="cannot be looked for among"):
        nearest(pictures, among[:0])
