"""A recording as the network reads it: mel frames, in training and in use by the same rule.

N samples, T frames.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clearformer.folder.preprocessing import SoundFacts
from clearformer.model.mel import log_mel

Sound = NDArray[np.floating[Any]]


class FrameBatch(NamedTuple):
    """Frames of several recordings, filled up to the longest: frames B T mels, keep B T (True = real)."""

    frames: Tensor
    keep: Tensor


def frames_of(sound: Sound, facts: SoundFacts) -> Tensor:
    """Mel frames of a recording: T mels. It is filled up with silence to the model's window, or gets its margins."""
    check_channels(sound)
    room = round(facts.seconds * facts.sample_rate)
    if len(sound) > room:
        seconds = len(sound) / facts.sample_rate
        raise ValueError(f"a recording of {seconds:.1f} s does not fit the model's {facts.seconds:g} s; cut it")
    return _mel(sound, room - len(sound) if facts.fill else None, facts)


def check_channels(sound: Sound) -> None:
    """Refuse what is not one row of samples."""
    if sound.ndim != 1:
        raise ValueError(f"a recording has one channel here, not shape {sound.shape}; take the mean of its channels")


def any_frames_of(sound: Sound, facts: SoundFacts) -> Tensor:
    """The same of a recording that is perhaps longer than the model's window, as training joins some."""
    return _mel(sound, None, facts)


def _mel(sound: Sound, fill: int | None, facts: SoundFacts) -> Tensor:
    margin = round(facts.margin * facts.sample_rate)
    shortest = max(facts.window, 2 * facts.hop)  # a spectrum needs as many samples
    before, after = (0, fill) if fill is not None else (margin, max(margin, shortest - margin - len(sound)))
    filled = torch.zeros(1, before + len(sound) + after)
    filled[0, before : before + len(sound)] = torch.from_numpy(np.ascontiguousarray(sound, dtype=np.float32))
    return log_mel(filled, rate=facts.sample_rate, mels=facts.mels, window=facts.window, hop=facts.hop)[0]


def stack_frames(rows: Sequence[Tensor]) -> FrameBatch:
    """Recordings of different lengths as one batch."""
    lengths = torch.tensor([len(row) for row in rows])
    frames = torch.zeros(len(rows), int(lengths.max()), rows[0].size(1))
    for number, row in enumerate(rows):
        frames[number, : len(row)] = row
    return FrameBatch(frames, torch.arange(frames.size(1))[None] < lengths[:, None])


def states_for(frames: int) -> int:
    """How many states the front end makes of so many frames: half as many, rounded up."""
    return -(-frames // 2)
