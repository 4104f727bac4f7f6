"""The weights that made the data are found again, and probabilities are true on what was not fitted."""

import numpy as np
import pytest

from clearformer.evaluation.logistic_fit import fit_halves, fit_logistic, predict


def drawn(count: int = 4000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    draw = np.random.default_rng(4)
    x = np.column_stack([np.ones(count), draw.normal(size=(count, 2))])
    weights = np.array([0.5, 2.0, -1.0])
    return x, draw.random(count) < predict(x, weights), weights


def test_the_weights_are_found_again():
    x, y, weights = drawn()
    assert fit_logistic(x, y.astype(float)) == pytest.approx(weights, abs=0.2)


def test_what_was_held_out_is_told_truly():
    x, y, _ = drawn()
    found = fit_halves(x.tolist(), y.tolist())
    assert found.error < 0.04
    assert found.auc > 0.8
    assert (found.fitted, found.held_out) == (2000, 2000)
    nothing = fit_halves([[1.0]] * 4000, y.tolist())
    assert nothing.auc == pytest.approx(0.5)
    assert nothing.error < 0.04  # the share of good ones is true, and tells nothing


def test_what_cannot_be_fitted_is_refused():
    with pytest.raises(ValueError, match="10 sentences are too few"):
        fit_halves([[1.0]] * 10, [True] * 10)
    with pytest.raises(ValueError, match="all translations are good, or all bad"):
        fit_halves([[1.0]] * 200, [True] * 200)


def test_classes_that_can_be_told_apart_keep_weights_finite():
    x = [[1.0, float(n >= 100)] for n in range(200)]
    assert all(map(np.isfinite, fit_halves(x, [n >= 100 for n in range(200)]).weights))
