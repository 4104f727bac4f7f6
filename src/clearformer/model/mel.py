"""Sound as a Transformer reads it: the loudness of each pitch band, a hundred times per second.

B batch, N samples, T frames.
"""

import math
from functools import lru_cache

import torch
from torch import Tensor


def log_mel(sound: Tensor, *, rate: int = 16_000, mels: int = 80, window: int = 400, hop: int = 160) -> Tensor:
    """Loudness of each pitch band, in frames of ten milliseconds, as in Whisper. sound: B N, -1…1; returns B T mels."""
    if sound.size(-1) <= window // 2 or sound.size(-1) < hop:
        raise ValueError(f"a sound of {sound.size(-1)} samples is too short for a window of {window}; add silence")
    spectrum = torch.stft(
        sound, window, hop, window=torch.hann_window(window, device=sound.device), return_complex=True
    )
    power = spectrum[..., :-1].abs().square()  # B bins T; the last frame hangs over the end
    bands = mel_bands(rate, window, mels).to(sound) @ power
    loudness = bands.clamp(min=1e-10).log10()
    loudness = loudness.maximum(
        loudness.amax(dim=(-2, -1), keepdim=True) - 8.0
    )  # 80 decibels below the peak is silence
    return ((loudness + 4.0) / 4.0).mT


@lru_cache(maxsize=8)  # the same for every recording of a model
def mel_bands(rate: int, window: int, mels: int) -> Tensor:
    """Triangular pitch bands over the bins of a spectrum, each of equal area (Slaney's scale). mels × bins."""
    bins = torch.linspace(0, rate / 2, window // 2 + 1, dtype=torch.float64)
    corners = _mel_to_hertz(torch.linspace(0, float(_hertz_to_mel(rate / 2)), mels + 2, dtype=torch.float64))
    rising = (bins[None] - corners[:-2, None]) / (corners[1:-1] - corners[:-2])[:, None]
    falling = (corners[2:, None] - bins[None]) / (corners[2:] - corners[1:-1])[:, None]
    triangles = torch.minimum(rising, falling).clamp(min=0)
    return (triangles * (2.0 / (corners[2:] - corners[:-2]))[:, None]).float()


# Slaney's mel scale: linear up to 1 kHz (15 mels), then a factor of 6.4 every 27 mels.
_STEP, _KNEE, _GROWTH = 200 / 3, 1000.0, math.log(6.4) / 27


def _hertz_to_mel(hertz: float) -> float:
    return hertz / _STEP if hertz < _KNEE else _KNEE / _STEP + math.log(hertz / _KNEE) / _GROWTH


def _mel_to_hertz(mel: Tensor) -> Tensor:
    knee = _KNEE / _STEP
    return torch.where(mel < knee, mel * _STEP, _KNEE * torch.exp((mel - knee) * _GROWTH))
