"""New recordings out of old ones, drawn anew at every reading: what the words do not depend on.

Samples are played faster or slower, louder or softer, with noise and with silence around them; spectra are stretched
along their pitches, as other throats would, and lose stripes of time and of pitch (SpecAugment; Park et al., 2019).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Sound = NDArray[np.float32]  # N
Frames = NDArray[np.float32]  # T mels


@dataclass(frozen=True, kw_only=True)
class SoundChanges:
    """How much a recording may be changed in training. Zero: not at all."""

    speed: float = 0.0  # share by which it is played faster or slower, higher or lower
    loudness: float = 0.0  # decibels by which it is louder or softer
    noise: float = 0.0  # noise of up to this share of its loudness
    shift: float = 0.0  # seconds of silence before and after it, at most
    pitch: float = 0.0  # share by which its spectra are stretched or squeezed
    time_masks: int = 0  # stripes of time that are lost
    time_width: float = 0.1  # the widest, as a share of the recording
    pitch_masks: int = 0  # stripes of pitch that are lost
    pitch_width: int = 8  # the widest, in bands
    join: int = 1  # up to so many recordings are read as one, so that a model learns sequences
    pause: float = 0.2  # seconds between two that are joined, at most

    def __post_init__(self) -> None:
        for name in ("speed", "noise", "pitch", "time_width"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"data.changes.{name} is a share, at least 0 and below 1, not {getattr(self, name)}")
        for name in ("loudness", "shift", "pause", "time_masks", "pitch_masks", "pitch_width"):
            if getattr(self, name) < 0:
                raise ValueError(f"data.changes.{name} must not be negative, but is {getattr(self, name)}")
        if self.join < 1:
            raise ValueError(f"data.changes.join counts recordings, so at least 1, not {self.join}")


def change_samples(sound: Sound, rate: int, changes: SoundChanges, random: np.random.Generator) -> Sound:
    """Speed, loudness, noise and silence around."""
    if changes.speed:
        sound = play_at(sound, 1 + random.uniform(-changes.speed, changes.speed))
    if changes.loudness:
        sound = sound * np.float32(10 ** (random.uniform(-changes.loudness, changes.loudness) / 20))
    if changes.shift:
        before, after = (int(random.uniform(0, changes.shift) * rate) for _ in range(2))
        sound = np.pad(sound, (before, after))
    if changes.noise:
        loud = float(np.sqrt(np.mean(sound**2)))
        hiss = random.standard_normal(len(sound), dtype=np.float32)
        sound = sound + hiss * np.float32(loud * random.uniform(0, changes.noise))
    return sound


def play_at(sound: Sound, speed: float) -> Sound:
    """The same sound so many times as fast; between two samples a straight line is enough for some per cent."""
    count = max(1, round(len(sound) / speed))
    played: Sound = np.interp(np.arange(count) * speed, np.arange(len(sound)), sound).astype(np.float32)
    return played


def change_frames(frames: Frames, changes: SoundChanges, random: np.random.Generator) -> Frames:
    """Stretched pitches and lost stripes; what is lost becomes the mean of all."""
    if changes.pitch:
        frames = stretch_pitch(frames, 1 + random.uniform(-changes.pitch, changes.pitch))
    if not (changes.time_masks or changes.pitch_masks):
        return frames
    masked, mean = frames.copy(), frames.mean()
    for _ in range(changes.time_masks):
        masked[_stripe(len(masked), int(changes.time_width * len(masked)), random)] = mean
    for _ in range(changes.pitch_masks):
        masked[:, _stripe(masked.shape[1], changes.pitch_width, random)] = mean
    return masked


def stretch_pitch(frames: Frames, factor: float) -> Frames:
    """Band b gets what stood at b / factor: above 1 the voice is higher. Beyond the last band, the last one stands."""
    bands = frames.shape[1]
    place = np.clip(np.arange(bands) / factor, 0, bands - 1)
    low = np.minimum(place.astype(np.int64), bands - 2) if bands > 1 else np.zeros(bands, dtype=np.int64)
    share = (place - low).astype(np.float32)
    stretched: Frames = frames[:, low] * (1 - share) + frames[:, np.minimum(low + 1, bands - 1)] * share
    return stretched


def _stripe(length: int, widest: int, random: np.random.Generator) -> slice:
    width = int(random.integers(0, min(widest, length) + 1))
    start = int(random.integers(0, length - width + 1))
    return slice(start, start + width)


def join_sounds(sounds: Sequence[Sound], rate: int, pause: float, random: np.random.Generator) -> Sound:
    """Several recordings one after the other, with a drawn silence between each two."""
    parts: list[NDArray[Any]] = []
    for sound in sounds:
        if parts:
            parts.append(np.zeros(int(random.uniform(0, pause) * rate), dtype=np.float32))
        parts.append(sound)
    return np.concatenate(parts)
