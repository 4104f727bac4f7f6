"""A recording as the network reads it: mel frames, or its samples, in training and in use by the same rule.

N samples, T frames. Where samples are read, each of them is a frame.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from clearformer.folder.preprocessing import SoundFacts
from clearformer.model.mel import log_mel

Sound = NDArray[np.floating[Any]]
Count = TypeVar("Count", int, Tensor)
LEAST_VARIANCE = 1e-7  # added to the variance of samples, against division by zero


class FrameBatch(NamedTuple):
    """Frames of several recordings, filled up to the longest: B T mels, or samples, B T; keep B T (True = real)."""

    frames: Tensor
    keep: Tensor


def frames_of(sound: Sound, facts: SoundFacts) -> Tensor:
    """Mel frames of a recording, T mels, or samples, T. It is filled up with silence to the model's window, or gets its
    margins."""
    check_channels(sound)
    room = round(facts.seconds * facts.sample_rate)
    if len(sound) > room:
        seconds = len(sound) / facts.sample_rate
        raise ValueError(f"a recording of {seconds:.1f} s does not fit the model's {facts.seconds:g} s; cut it")
    return _READ[facts.reads](sound, room - len(sound) if facts.fill else None, facts)


def check_channels(sound: Sound) -> None:
    """Refuse what is not one row of samples."""
    if sound.ndim != 1:
        raise ValueError(f"a recording has one channel here, not shape {sound.shape}; take the mean of its channels")


def any_frames_of(sound: Sound, facts: SoundFacts) -> Tensor:
    """The same of a recording that is perhaps longer than the model's window, as training joins some."""
    return _READ[facts.reads](sound, None, facts)


def _mel(sound: Sound, fill: int | None, facts: SoundFacts) -> Tensor:
    filled = _filled(_values(sound), fill, facts, shortest=max(facts.window, 2 * facts.hop))[None]
    return log_mel(filled, rate=facts.sample_rate, mels=facts.mels, window=facts.window, hop=facts.hop)[0]


def _samples(sound: Sound, fill: int | None, facts: SoundFacts) -> Tensor:
    """What is added is silence before and after what was normalised, and never part of its mean."""
    values = _values(sound)
    if facts.normalise and len(values):
        values = (values - values.mean()) / (values.var(correction=0) + LEAST_VARIANCE).sqrt()
    return _filled(values, fill, facts, shortest=facts.window)


def _values(sound: Sound) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(sound, dtype=np.float32))


def _filled(values: Tensor, fill: int | None, facts: SoundFacts, *, shortest: int) -> Tensor:
    """With silence around it. shortest: as many samples the network needs for its first state."""
    margin = round(facts.margin * facts.sample_rate)
    before, after = (0, fill) if fill is not None else (margin, max(margin, shortest - margin - len(values)))
    return F.pad(values, (before, after))


_READ: dict[str, Callable[[Sound, int | None, SoundFacts], Tensor]] = {"spectra": _mel, "samples": _samples}


def spectrum_of(sound: Sound, facts: SoundFacts) -> Tensor:
    """What can be shown of a recording, two frames for each state of the network: T mels."""
    if facts.reads == "spectra":
        return frames_of(sound, facts)
    hop = max(1, facts.hop // 2)
    return _mel(sound, None, replace(facts, window=max(2 * hop, facts.window), hop=hop))


def stack_frames(rows: Sequence[Tensor]) -> FrameBatch:
    """Recordings of different lengths as one batch."""
    lengths = torch.tensor([len(row) for row in rows])
    frames = torch.zeros(len(rows), int(lengths.max()), *rows[0].shape[1:])
    for number, row in enumerate(rows):
        frames[number, : len(row)] = row
    return FrameBatch(frames, torch.arange(frames.size(1))[None] < lengths[:, None])


def states_for(frames: Count, facts: SoundFacts) -> Count:
    """How many states the front end makes of so many frames, or samples: half as many spectra, rounded up, or one for
    each window that fits."""
    return -(-frames // 2) if facts.reads == "spectra" else (frames - facts.window) // facts.hop + 1
