"""Recordings by Python's own reader and by soundfile; what is no recording is refused by name."""

import sys
import wave

import numpy as np
import pytest

from clearformer.data.readers import sounds
from clearformer.data.readers.sounds import SoundError, read_sound, sound_files

TONE = 0.5 * np.sin(np.arange(1600) / 8)


def write(path, numbers, width=2, rate=16_000):
    columns = numbers if numbers.ndim == 2 else numbers[:, None]
    whole = np.round(columns * (2.0 ** (8 * width - 1) - 1)).astype("<i8") + (128 if width == 1 else 0)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(columns.shape[1])
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(whole.reshape(-1, 1).view(np.uint8)[:, :width].tobytes())
    return path


@pytest.fixture(params=["wave", "soundfile"])
def library(request, monkeypatch):
    if request.param == "wave":
        monkeypatch.setitem(sys.modules, "soundfile", None)
    else:
        pytest.importorskip("soundfile")


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_every_width_gives_the_tone_back(library, tmp_path, width):
    found = read_sound(write(tmp_path / "a.wav", TONE, width), rate=16_000)
    np.testing.assert_allclose(found, TONE, atol=0.02 if width == 1 else 1e-4)


def test_channels_are_mixed_and_the_rate_is_changed(library, tmp_path):
    both = np.stack([TONE, -TONE], axis=1)
    assert np.abs(read_sound(write(tmp_path / "a.wav", both), rate=16_000)).max() < 1e-4
    assert len(read_sound(write(tmp_path / "b.wav", TONE, rate=8_000), rate=16_000)) == 3200


def test_what_is_no_recording_is_refused_by_name(library, tmp_path, monkeypatch):
    good = write(tmp_path / "good.wav", TONE).read_bytes()
    write(tmp_path / "none.wav", TONE[:0])
    for name, content in {"empty": b"", "header": good[:20], "text": b"no sound at all " * 9}.items():
        (tmp_path / f"{name}.wav").write_bytes(content)
    for name in ("empty", "header", "text", "none", "missing"):
        with pytest.raises(SoundError, match=rf"{name}\.wav (is empty|cannot be read|holds 0 seconds|does not exist)"):
            read_sound(tmp_path / f"{name}.wav", rate=16_000)
    monkeypatch.setattr(sounds, "MOST_SECONDS", 0)
    with pytest.raises(SoundError, match=r"good\.wav is longer than"):
        read_sound(tmp_path / "good.wav", rate=16_000)


def test_a_wav_that_ends_before_its_header_says_is_refused(library, tmp_path):
    good = write(tmp_path / "good.wav", TONE).read_bytes()
    (tmp_path / "cut.wav").write_bytes(good[: len(good) // 2])
    with pytest.raises(SoundError, match=r"cut\.wav is truncated: of 3,200 bytes of sound 1,578 are there"):
        read_sound(tmp_path / "cut.wav", rate=16_000)


def test_a_wav_that_was_written_into_a_pipe_does_not_know_its_length(tmp_path):
    pytest.importorskip("soundfile")
    good = write(tmp_path / "good.wav", TONE).read_bytes()
    place = good.index(b"data") + 4
    (tmp_path / "piped.wav").write_bytes(good[:place] + b"\xff" * 4 + good[place + 4 :])
    assert len(read_sound(tmp_path / "piped.wav", rate=16_000)) == len(TONE)


def test_numbers_that_are_none_are_refused(tmp_path):
    soundfile = pytest.importorskip("soundfile")
    for value in (np.nan, np.inf):
        soundfile.write(tmp_path / "a.wav", np.array([0.0, value]), 16_000, subtype="FLOAT")
        with pytest.raises(SoundError, match=r"a\.wav has samples that are no finite numbers"):
            read_sound(tmp_path / "a.wav", rate=16_000)


def test_without_the_package_other_formats_name_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "soundfile", None)
    (tmp_path / "a.flac").write_bytes(b"fLaC")
    with pytest.raises(SoundError, match=r"pip install 'clearformer\[sound\]'"):
        read_sound(tmp_path / "a.flac", rate=16_000)
    assert [path.name for path in sound_files(tmp_path)] == ["a.flac"]


def test_a_refusal_has_no_names_of_objects(tmp_path):
    pytest.importorskip("soundfile")
    (tmp_path / "a.wav").write_text("hello")
    with pytest.raises(SoundError, match=r"a\.wav cannot be read as a recording \([^<]*\): replace or remove it$"):
        read_sound(tmp_path / "a.wav", rate=16_000)
