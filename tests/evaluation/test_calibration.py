"""Probabilities that are true: the error is nought where they are, and a temperature finds the way back."""

import math

import numpy as np
import pytest

from clearformer.evaluation.calibration import calibration_error, fit_temperature, settle_temperature


def test_by_hand():
    """Said with 0.9 and right half of the time: 0.4 apart; said with 0.5 and right half of the time: nothing."""
    assert calibration_error([0.9] * 4, [True, True, False, False]) == pytest.approx(0.4)
    assert calibration_error([0.5] * 4, [True, True, False, False]) == pytest.approx(0.0)
    assert calibration_error([0.9] * 4 + [0.5] * 4, [True, True, False, False] * 2) == pytest.approx(0.2)
    assert calibration_error([1.0], [True]) == 0.0  # the last bin holds its upper end


def test_true_probabilities_have_little_error():
    draw = np.random.default_rng(1)
    sure = draw.uniform(0.3, 1.0, size=20_000)
    assert calibration_error(sure, draw.random(20_000) < sure) < 0.02  # what 20,000 draws leave
    assert calibration_error(sure, draw.random(20_000) < sure**3) > 0.1


def drawn(temperature, count=4000, classes=5):
    """Logits that are `temperature` times too large, and labels drawn by the true probabilities."""
    draw = np.random.default_rng(2)
    logits = draw.normal(size=(count, classes)) * 2
    true = np.exp(logits - np.logaddexp.reduce(logits, axis=1, keepdims=True))
    labels = (true.cumsum(axis=1) > draw.random((count, 1))).argmax(axis=1)
    return logits * temperature, labels


@pytest.mark.parametrize("temperature", [0.25, 1.0, 3.0])
def test_the_temperature_that_spoiled_them_is_found(temperature):
    logits, labels = drawn(temperature)

    def loss(t):
        scaled = logits / t
        return float(np.mean(np.logaddexp.reduce(scaled, axis=1) - scaled[np.arange(len(labels)), labels]))

    found = fit_temperature(loss)
    assert found == pytest.approx(temperature, rel=0.06)

    def error(t):
        scaled = np.exp(logits / t - np.logaddexp.reduce(logits / t, axis=1, keepdims=True))
        return calibration_error(scaled.max(axis=1), scaled.argmax(axis=1) == labels)

    assert error(found) < 0.03
    assert error(found) <= error(1.0) + 1e-3


def test_where_nothing_is_better_one_stays_one():
    assert fit_temperature(lambda t: 1.0) == 1.0


@pytest.mark.parametrize(("after", "kept"), [(0.01, 0.5), (0.4, 1.0)])
def test_a_temperature_that_makes_probabilities_less_true_is_not_taken(after, kept):
    found, said = settle_temperature(lambda t: (math.log(t) - math.log(0.5)) ** 2, lambda t: 0.1 if t == 1 else after)
    assert found == pytest.approx(kept, abs=1e-3)
    assert "0.100" in said
    assert f"{after:.3f}" in said


def test_without_mistakes_nothing_becomes_certain():
    """Every example is right by a margin of 2, so the loss falls as long as the temperature does."""
    found, said = settle_temperature(lambda t: math.log1p(math.exp(-2 / t)), lambda t: math.exp(-2 / t))
    assert found == 1.0
    assert "too few mistakes" in said


def test_unequal_numbers_are_refused():
    with pytest.raises(ValueError, match="2 probabilities cannot be compared with 1"):
        calibration_error([0.1, 0.2], [True])
