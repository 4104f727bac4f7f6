"""Errors of pixels, and PCA's, held against numpy's singular value decomposition."""

import numpy as np
import pytest

from clearformer.evaluation.pixel_error import Principal, score_pixels


def test_the_mean_with_its_interval():
    scores = score_pixels([0.01, 0.03])
    assert scores["mse"] == pytest.approx(0.02)
    assert scores["mse_low"] == pytest.approx(0.02 - 1.959964 * 0.01 / 2**0.5)
    assert scores["psnr"] == pytest.approx(16.9897, abs=1e-4)
    with pytest.raises(ValueError, match="there are no pictures to compare"):
        score_pixels([])


def test_principal_components_are_those_of_the_decomposition():
    table = np.random.default_rng(1).random((50, 12)).astype(np.float32) * np.linspace(0.1, 1, 12, dtype=np.float32)
    principal = Principal.of(table, 3)
    _, _, directions = np.linalg.svd(table - table.mean(axis=0), full_matrices=False)
    assert np.abs(principal.directions @ directions[:3].T) == pytest.approx(np.eye(3), abs=1e-5)  # signs are free
    back = (table - table.mean(axis=0)) @ directions[:3].T @ directions[:3] + table.mean(axis=0)
    expected = ((back.clip(0, 1) - table) ** 2).mean(axis=1)
    assert principal.errors(table) == pytest.approx(expected.tolist(), abs=1e-6)


def test_as_many_components_as_pixels_lose_nothing():
    table = np.random.default_rng(2).random((30, 6)).astype(np.float32)
    assert max(Principal.of(table, 6).errors(table)) < 1e-12
