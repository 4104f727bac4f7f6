"""Silence by energy: what is passed over is silent, no speech is lost, and cuts lie where it is quiet."""

import numpy as np
import pytest

from clearformer.inference.quiet import KEPT, Stretch, loudness, pieces, silent_stretches

RATE = 8000


def tone(seconds, loud=0.3):
    return (loud * np.sin(np.arange(round(seconds * RATE)) * 0.4)).astype(np.float32)


def hush(seconds, noise=0.0, seed=1):
    return (noise * np.random.default_rng(seed).standard_normal(round(seconds * RATE))).astype(np.float32)


def test_loudness_is_in_decibels():
    level = loudness(tone(1, loud=1.0), RATE)
    assert len(level) == 100
    assert level[50] == pytest.approx(-3.0, abs=0.2)  # a sine of full scale
    assert loudness(tone(1, loud=0.1), RATE)[50] == pytest.approx(-23.0, abs=0.2)


def test_long_silence_is_found_with_what_is_kept_beside_speech():
    sound = np.concatenate([tone(1), hush(4, noise=3e-4), tone(1), hush(0.8), tone(1)])
    [found] = silent_stretches(sound, RATE)
    assert found.start / RATE == pytest.approx(1 + KEPT, abs=0.05)
    assert found.end / RATE == pytest.approx(5 - KEPT, abs=0.05)


def test_silence_at_the_ends_goes_as_far_as_the_recording():
    sound = np.concatenate([hush(3), tone(1), hush(3)])
    first, last = silent_stretches(sound, RATE)
    assert first.start == 0
    assert last.end == len(sound)


def test_nothing_is_silent_beside_steady_noise_or_soft_speech():
    """Where all is alike there is nothing to tell speech from; soft speech beside loud speech is kept."""
    assert silent_stretches(hush(10, noise=0.05), RATE) == []
    assert silent_stretches(np.concatenate([tone(3), tone(3, loud=0.02), tone(3)]), RATE) == []
    loud_hiss = np.concatenate([tone(2) + hush(2, 0.05), hush(4, 0.05, seed=2), tone(2)])
    assert silent_stretches(loud_hiss, RATE) == []


def test_all_silence_is_all_passed_over_and_nothing_is_nothing():
    assert silent_stretches(hush(5), RATE) == [Stretch(0, 5 * RATE)]
    assert silent_stretches(hush(0), RATE) == []


@pytest.mark.parametrize("seed", range(5))
def test_speech_is_never_lost(seed):
    draw = np.random.default_rng(seed)
    parts, spoken, place = [], [], 0
    for _ in range(6):
        speech, pause = tone(draw.uniform(0.3, 2), loud=draw.uniform(0.05, 0.8)), hush(draw.uniform(0.1, 4), 1e-4, seed)
        spoken.append((place, place + len(speech)))
        parts += [speech, pause]
        place += len(speech) + len(pause)
    sound = np.concatenate(parts)
    for silent in silent_stretches(sound, RATE):
        assert all(silent.end <= start or silent.start >= end for start, end in spoken)
    cut = pieces(sound, RATE, longest=1.5)
    assert all(part.end - part.start <= 1.5 * RATE for part in cut)
    heard = np.zeros(len(sound), dtype=int)
    for part in cut:
        heard[part.start : part.end] += 1
    assert heard.max() == 1
    assert all(heard[start:end].min() == 1 for start, end in spoken)


def test_a_cut_lies_in_the_pause():
    sound = np.concatenate([tone(0.8), hush(0.1), tone(0.8)])
    first, second = pieces(sound, RATE, longest=1.0, skip=False)
    assert first.end == second.start
    assert 0.8 <= first.end / RATE <= 0.9
    assert pieces(sound, RATE, longest=2.0) == [Stretch(0, len(sound))]
