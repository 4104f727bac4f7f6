"""A sine stays the same sine at another rate, and what the new rate cannot carry is gone."""

import numpy as np
import pytest

from clearformer.data.resampling import resample


def sine(pitch: float, rate: int, seconds: float = 0.5) -> np.ndarray:
    return np.sin(2 * np.pi * pitch * np.arange(round(seconds * rate)) / rate).astype(np.float32)


@pytest.mark.parametrize("rate", [8_000, 11_025, 22_050, 44_100, 44_101, 48_000])
def test_a_sine_stays_a_sine(rate):
    found = resample(sine(440, rate), rate, 16_000)
    inside = slice(500, -500)
    np.testing.assert_allclose(found[:8000][inside], sine(440, 16_000)[inside], atol=1e-3)


def test_a_pitch_above_half_the_new_rate_is_filtered_out():
    assert np.abs(resample(sine(10_000, 48_000), 48_000, 16_000)[500:-500]).max() < 1e-3


def test_the_same_rate_changes_nothing():
    np.testing.assert_array_equal(resample(sine(100, 16_000), 16_000, 16_000), sine(100, 16_000))
