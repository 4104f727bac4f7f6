"""Log-mel frames, beside the published feature extractor."""

import math

import numpy as np
import pytest
import torch
from transformers import WhisperFeatureExtractor
from transformers.audio_utils import mel_filter_bank

from clearformer.model.mel import log_mel, mel_bands


@pytest.mark.parametrize("mels", [80, 128])
def test_pitch_bands_equal_an_independent_computation(mels):
    theirs = mel_filter_bank(
        num_frequency_bins=201, num_mel_filters=mels, min_frequency=0.0, max_frequency=8000.0, sampling_rate=16_000,
        norm="slaney", mel_scale="slaney",
    )  # fmt: skip
    np.testing.assert_allclose(mel_bands(16_000, 400, mels).numpy(), theirs.T, atol=1e-6)


def test_log_mel_equals_whisper():
    """A chord with noise, three seconds, against the published feature extractor."""
    time = torch.arange(48_000) / 16_000
    sound = sum(torch.sin(2 * math.pi * pitch * time) for pitch in (220, 277.2, 329.6, 2500)) / 5
    sound = sound + 0.05 * torch.randn_like(sound)
    extractor = WhisperFeatureExtractor(feature_size=80, chunk_length=3)
    theirs = torch.tensor(extractor(sound.numpy(), sampling_rate=16_000, return_tensors="np").input_features)
    ours = log_mel(sound[None])
    assert ours.shape == (1, 300, 80)  # ten milliseconds a frame
    torch.testing.assert_close(ours.mT, theirs, rtol=1e-4, atol=1e-4)


def test_every_sound_has_its_own_silence():
    """Loudness is measured against the loudest moment of the same recording, not of its batch mates."""
    loud, soft = torch.randn(1, 4000), 1e-3 * torch.randn(1, 4000)
    torch.testing.assert_close(log_mel(torch.cat((loud, soft)))[1:], log_mel(soft))


def test_a_high_tone_lies_in_a_high_band():
    time = torch.arange(16_000) / 16_000
    bands = [
        log_mel(torch.sin(2 * math.pi * pitch * time)[None]).mean(dim=1).argmax().item() for pitch in (200, 1000, 4000)
    ]
    assert bands == sorted(set(bands))


def test_a_sound_shorter_than_a_window_is_refused():
    with pytest.raises(ValueError, match="a sound of 100 samples is too short for a window of 400; add silence"):
        log_mel(torch.zeros(1, 100))
