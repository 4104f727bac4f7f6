"""Frames of recordings: filled up or as long as they are, and the same alone and in a batch."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from clearformer.folder.preprocessing import SoundFacts
from clearformer.inference.sound_frames import (
    any_frames_of,
    check_channels,
    frames_of,
    spectrum_of,
    stack_frames,
    states_for,
)
from support.spoken import FACTS, RATE, say


def test_a_filled_window_has_one_length_and_the_others_their_own():
    filled = replace(FACTS, fill=True, margin=0.0)
    assert frames_of(say("do"), filled).shape == frames_of(say("do re mi"), filled).shape == (200, 12)
    lengths = [len(frames_of(say(text), FACTS)) for text in ("do", "do re")]
    assert lengths == [(1600 + 800) // 80, (3200 + 800) // 80]


def test_the_margin_is_silence_around_it():
    sound = say("re mi")
    margin = np.zeros(round(FACTS.margin * RATE), dtype=np.float32)
    around = frames_of(np.concatenate([margin, sound, margin]), replace(FACTS, margin=0.0))
    torch.testing.assert_close(frames_of(sound, FACTS), around)


def test_the_shortest_recording_has_frames():
    for count in (0, 1, 50):
        assert len(frames_of(np.full(count, 0.1, dtype=np.float32), replace(FACTS, margin=0.0))) >= 2


def test_a_batch_is_filled_up_and_says_what_is_real():
    rows = [frames_of(say(text), FACTS) for text in ("do", "do re mi")]
    batch = stack_frames(rows)
    for row, frames, keep in zip(rows, batch.frames, batch.keep, strict=True):
        assert int(keep.sum()) == len(row)
        assert torch.equal(frames[: len(row)], row)
        assert bool((frames[len(row) :] == 0).all())


def test_states_are_half_as_many_rounded_up():
    assert [states_for(count, FACTS) for count in (1, 2, 3, 10)] == [1, 1, 2, 5]


def test_states_are_as_many_as_windows_of_samples_fit():
    facts = SoundFacts(reads="samples", window=400, hop=320)
    assert [states_for(count, facts) for count in (400, 719, 720, 16_000)] == [1, 1, 2, 49]
    assert states_for(torch.tensor([400, 720]), facts).tolist() == [1, 2]


def test_samples_are_normalised_before_silence_is_added():
    facts = SoundFacts(reads="samples", normalise=True, window=400, hop=320, fill=False)
    sound = np.random.default_rng(1).normal(0.2, 0.01, 300).astype(np.float32)
    read = frames_of(sound, facts)
    assert read.shape == (400,)
    assert abs(float(read[:300].mean())) < 1e-4
    assert float(read[:300].std()) == pytest.approx(1, abs=0.01)
    assert not read[300:].any()
    assert frames_of(sound[:0], facts).shape == (400,)
    assert spectrum_of(np.zeros(3200, dtype=np.float32), facts).shape == (20, 80)  # two frames for each state, at 160


def test_what_does_not_fit_is_refused():
    long = np.zeros(3 * RATE, dtype=np.float32)
    with pytest.raises(ValueError, match=r"a recording of 3\.0 s does not fit the model's 2 s; cut it"):
        frames_of(long, FACTS)
    assert len(any_frames_of(long, FACTS)) == 310
    with pytest.raises(ValueError, match=r"one channel here, not shape \(2, 9\)"):
        check_channels(np.zeros((2, 9)))
