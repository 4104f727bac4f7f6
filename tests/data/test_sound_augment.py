"""Recordings changed: by the seed alone, within their bounds, and not at all where nothing is asked."""

import numpy as np
import pytest

from clearformer.data.sound_augment import (
    SoundChanges,
    change_frames,
    change_samples,
    join_sounds,
    play_at,
    stretch_pitch,
)

RATE = 8000
TONE = np.sin(np.arange(4000) * 2 * np.pi * 500 / RATE).astype(np.float32)
FRAMES = np.random.default_rng(3).standard_normal((50, 12)).astype(np.float32)
EVERY = SoundChanges(speed=0.2, loudness=6, noise=0.1, shift=0.1, pitch=0.2, time_masks=2, pitch_masks=2)


def draw(seed):
    return np.random.default_rng(seed)


def strongest(sound):
    return np.abs(np.fft.rfft(sound)).argmax() * RATE / len(sound)


def test_nothing_asked_changes_nothing():
    assert np.array_equal(change_samples(TONE, RATE, SoundChanges(), draw(1)), TONE)
    assert np.array_equal(change_frames(FRAMES, SoundChanges(), draw(1)), FRAMES)


def test_the_seed_decides():
    for change in (
        lambda seed: change_samples(TONE, RATE, EVERY, draw(seed)),
        lambda seed: change_frames(FRAMES, EVERY, draw(seed)),
    ):
        assert np.array_equal(change(1), change(1))
        assert not np.array_equal(change(1), change(2))


@pytest.mark.parametrize("speed", [0.5, 0.9, 1.25, 2.0])
def test_faster_is_shorter_and_higher(speed):
    played = play_at(TONE, speed)
    assert len(played) == round(len(TONE) / speed)
    assert strongest(played) == pytest.approx(500 * speed, rel=0.01)


def test_bounds_hold():
    for seed in range(20):
        changed = change_samples(TONE, RATE, SoundChanges(speed=0.1, shift=0.05), draw(seed))
        assert len(TONE) / 1.1 - 1 <= len(changed) <= len(TONE) / 0.9 + 0.1 * RATE + 1
        louder = change_samples(TONE, RATE, SoundChanges(loudness=6), draw(seed))
        assert 0.49 < np.abs(louder).max() < 2.01


def test_stripes_become_the_mean_and_the_rest_stays():
    changes = SoundChanges(time_masks=1, time_width=0.3, pitch_masks=1, pitch_width=4)
    seen = set()
    for seed in range(20):
        changed = change_frames(FRAMES, changes, draw(seed))
        other = changed != FRAMES
        assert np.allclose(changed[other], FRAMES.mean())
        rows, columns = other.all(axis=1).sum(), other.all(axis=0).sum()
        assert rows <= 15
        assert columns <= 4
        seen.add((int(rows), int(columns)))
    assert len(seen) > 5


def test_stretching_moves_a_band_up_and_one_changes_nothing():
    frames = np.zeros((3, 20), dtype=np.float32)
    frames[:, 10] = 1
    assert stretch_pitch(frames, 1.2)[0].argmax() == 12
    assert stretch_pitch(frames, 0.8)[0].argmax() == 8
    np.testing.assert_allclose(stretch_pitch(frames, 1.0), frames)


def test_joined_recordings_stand_one_after_the_other_with_pauses_between():
    one, two = np.ones(10, dtype=np.float32), np.full(5, 2, dtype=np.float32)
    assert join_sounds([one, two], RATE, 0.0, draw(1)).tolist() == [1.0] * 10 + [2.0] * 5
    lengths = {len(join_sounds([one, two], RATE, 0.1, draw(seed))) - 15 for seed in range(9)}
    assert len(lengths) > 1
    assert max(lengths) <= 0.1 * RATE


@pytest.mark.parametrize(
    "wrong", [{"speed": 1.0}, {"noise": -0.1}, {"join": 0}, {"time_masks": -1}, {"pause": -1.0}, {"loudness": -3.0}]
)
def test_what_makes_no_sense_is_refused_by_name(wrong):
    with pytest.raises(ValueError, match=rf"data\.changes\.{next(iter(wrong))}"):
        SoundChanges(**wrong)
