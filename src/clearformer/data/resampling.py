"""A sound at another sample rate: each new sample is a weighted mean of the old ones around its moment.

The weights are a sinc under a Kaiser window (Smith, "Digital Audio Resampling"). Pitches that the lower of both rates
cannot carry are filtered out first, or they would come back as false low ones.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

CROSSINGS = 48  # of the sinc on each side: more is a sharper edge between what is kept and what is not
ROLLOFF = 0.94  # the edge lies a little below half the rate, so that it has ended there
KAISER = 9.0  # what lies beyond the edge is about 90 decibels weaker

Sound = NDArray[np.floating[Any]]


def resample(sound: Sound, rate: int, wanted: int) -> NDArray[np.float32]:
    """The same sound, one channel, with `wanted` samples per second instead of `rate`."""
    if rate == wanted or not len(sound):
        return np.ascontiguousarray(sound, dtype=np.float32)
    step, phases = rate // math.gcd(rate, wanted), wanted // math.gcd(rate, wanted)
    length = -(-len(sound) * phases // step)  # rounded up: the last old sample still has its moment
    scale = ROLLOFF * min(1.0, phases / step)
    reach = math.ceil(CROSSINGS / scale)
    padded = np.pad(np.asarray(sound, dtype=np.float32), (reach, reach + step))
    around = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1)
    made = np.empty(length, dtype=np.float32)
    # New samples that are `phases` apart lie equally far behind an old one, so they share their weights.
    for phase in range(min(phases, length)):
        first, rest = divmod(phase * step, phases)
        count = len(range(phase, length, phases))
        made[phase::phases] = around[first::step][:count] @ _weights(rest / phases, reach, scale)
    return made


def _weights(behind: float, reach: int, scale: float) -> NDArray[np.float32]:
    """For a moment that lies a part of a sample `behind` the middle one. Their sum is 1: loudness stays."""
    distance = np.arange(-reach, reach + 1) - behind
    within = np.clip(1 - (distance * scale / CROSSINGS) ** 2, 0, None)
    weights = np.sinc(scale * distance) * np.i0(KAISER * np.sqrt(within)) * (within > 0)
    normed: NDArray[np.float32] = (weights / weights.sum()).astype(np.float32)
    return normed
