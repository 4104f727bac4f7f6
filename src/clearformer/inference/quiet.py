"""Where a recording is quiet, by its energy alone: what can be passed over, and where it can be cut.

The rule is careful: a stretch counts as silent only if all of it is far below the loudest part and hardly above the
quietest, for seconds. Noise, music and whispering are left to the model.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Sound = NDArray[np.floating[Any]]

STEP = 0.01  # seconds between two looks at the loudness
SPAN = 0.03  # seconds that a look takes in
NOTHING = -80.0  # decibels below full scale: softer than the third step of sixteen bits
BELOW_PEAK, ABOVE_FLOOR = 35.0, 10.0  # decibels: what is silent is so far from the loudest, so near the quietest
LONG = 1.5  # seconds: a shorter pause is part of speech
KEPT = 0.3  # seconds of a silent stretch that are kept at each end, for soft beginnings and endings
LAST_PART = 0.5  # of a window: a cut is looked for in its second half


class Stretch(NamedTuple):
    """Samples from `start` up to `end`."""

    start: int
    end: int


def loudness(sound: Sound, rate: int) -> NDArray[np.float64]:
    """Decibels below full scale, a hundred times per second."""
    step, span = max(1, round(STEP * rate)), max(1, round(SPAN * rate))
    energy = np.concatenate(([0.0], np.cumsum(np.asarray(sound, dtype=np.float64) ** 2)))
    centres = np.arange(0, len(sound), step)
    first, last = np.maximum(centres - span // 2, 0), np.minimum(centres + span // 2 + 1, len(sound))
    mean = np.maximum(energy[last] - energy[first], 0) / (last - first)
    result: NDArray[np.float64] = 10 * np.log10(np.maximum(mean, 1e-12))
    return result


def silent_stretches(sound: Sound, rate: int, *, long: float = LONG, kept: float = KEPT) -> list[Stretch]:
    """What can be passed over: silence of more than `long` seconds, without what is kept beside speech."""
    if not len(sound):
        return []
    level = loudness(sound, rate)
    some = level[level > NOTHING]  # digital silence says nothing of how loud the room is
    floor = float(np.quantile(some, 0.05)) if len(some) else NOTHING
    limit = max(NOTHING, min(floor + ABOVE_FLOOR, float(level.max()) - BELOW_PEAK))
    quiet = np.concatenate(([False], level <= limit, [False]))
    edges = np.flatnonzero(np.diff(quiet.astype(np.int8)))
    step = max(1, round(STEP * rate))
    found = []
    for first, last in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        if (last - first) * STEP < long:
            continue
        # At the recording's own ends there is no speech beside the silence.
        start = 0 if first == 0 else first * step + round(kept * rate)
        end = len(sound) if last == len(level) else last * step - round(kept * rate)
        if end > start:
            found.append(Stretch(start, end))
    return found


def pieces(sound: Sound, rate: int, longest: float, *, skip: bool = True) -> list[Stretch]:
    """A recording in pieces of at most `longest` seconds, cut where it is quietest. skip: leave silence out."""
    whole = Stretch(0, len(sound))
    if len(sound) <= round(longest * rate):
        return [whole]
    spoken, begin = [], 0
    for silent in silent_stretches(sound, rate, long=0.5, kept=0.15) if skip else []:
        if silent.start > begin:
            spoken.append(Stretch(begin, silent.start))
        begin = silent.end
    if begin < len(sound):
        spoken.append(Stretch(begin, len(sound)))
    level = loudness(sound, rate)
    return [part for stretch in spoken for part in _cut(stretch, level, rate, longest)]


def _cut(stretch: Stretch, level: NDArray[np.float64], rate: int, longest: float) -> list[Stretch]:
    room, step = round(longest * rate), max(1, round(STEP * rate))
    found, start = [], stretch.start
    while stretch.end - start > room:
        first, last = (start + round(LAST_PART * room)) // step, (start + room) // step
        end = max(start + 1, min((first + int(level[first:last].argmin())) * step, start + room))
        found.append(Stretch(start, end))
        start = end
    return [*found, Stretch(start, stretch.end)]
