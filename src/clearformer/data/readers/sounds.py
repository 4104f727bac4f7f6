"""Recordings: sound files as samples between -1 and 1, one channel, at the rate that is asked for.

WAV, FLAC, Ogg and MP3 are read by the `soundfile` package; where it is missing, plain WAV still is, by Python's own
`wave`. What cannot be read is refused by file name.
"""

import io
import struct
import wave
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clearformer.data.resampling import resample

ENDINGS = (".wav", ".flac", ".ogg", ".opus", ".mp3")
MOST_SECONDS = 2 * 60 * 60  # of one recording, which is held in memory as a whole
MOST_BYTES = 4 << 30  # of one file
RATES = range(1_000, 200_000)  # samples per second that a real recording may have
WIDTHS = (1, 2, 3, 4)  # bytes of a sample
PIECE = 1 << 20  # numbers that are read at a time: a header may promise what is not there
UNKNOWN = 0x7FFF_0000  # bytes: what a WAV promises that was written into a pipe, or more; 0 says the same
COUNTED_IN = 64  # bytes: some recorders count the header in

Samples = NDArray[np.float32]  # one channel


class SoundError(ValueError):
    """A recording cannot be read; the message names it and says what to do."""


def sound_files(folder: Path) -> Iterator[Path]:
    """The recordings of a folder, in order."""
    return (path for path in sorted(folder.iterdir()) if path.suffix.lower() in ENDINGS and path.is_file())


class Recorded(NamedTuple):
    """A recording as it was recorded, one channel."""

    samples: Samples
    rate: int


def read_sound(path: Path, *, rate: int, content: bytes | None = None) -> Samples:
    """One recording as the mean of its channels, with `rate` samples per second. content: of the file, if it is not on
    disk under this name."""
    recorded = read_recorded(path, content)
    return resample(recorded.samples, recorded.rate, rate)


def read_recorded(path: Path, content: bytes | None = None) -> Recorded:
    """The same with the recording's own number of samples per second."""
    try:
        size = path.stat().st_size if content is None else len(content)
        if content is None and path.is_dir():
            raise SoundError(f"{path} is a folder; give a recording")
        if not size:
            raise SoundError(f"{path} is empty: get it anew")
        if size > MOST_BYTES:
            raise SoundError(f"{path} has {size:,} bytes, more than {MOST_BYTES:,}: cut it into parts")
        with path.open("rb") if content is None else io.BytesIO(content) as file:
            _refuse_truncated(path, file, size)
            with _open(path, file) as opened:
                return Recorded(_read(path, opened), opened.rate)
    except SoundError:
        raise
    except FileNotFoundError:
        raise SoundError(f"{path} does not exist: check the name") from None
    except OSError as error:
        raise SoundError(f"{path} cannot be read ({error.strerror or error}): check the file") from error


def _refuse_truncated(path: Path, file: IO[bytes], size: int) -> None:
    """A WAV that ends long before its header says: libraries read what is there without a word."""
    head = file.read(12)
    place = 12
    while head[:4] == b"RIFF" and head[8:] == b"WAVE" and place + 8 <= size:
        file.seek(place)
        name, promised = struct.unpack("<4sI", file.read(8))
        place += 8
        if name == b"data":
            if 0 < promised < UNKNOWN and size - place < promised - COUNTED_IN:
                raise SoundError(
                    f"{path} is truncated: of {promised:,} bytes of sound {size - place:,} are there; get it anew"
                )
            break
        place += promised + promised % 2  # chunks begin at even places
    file.seek(0)


@dataclass(frozen=True, kw_only=True)
class _Opened:
    """A sound file whose header was read. pieces: time by channels, until the file ends."""

    rate: int
    channels: int
    frames: int
    pieces: Iterator[NDArray[np.floating[Any]]]


def _read(path: Path, opened: _Opened) -> Samples:
    if opened.rate not in RATES or opened.channels < 1:
        raise SoundError(f"{path} says {opened.rate:,} samples per second, which no recording has: get it anew")
    most = MOST_SECONDS * opened.rate
    too_long = f"{path} is longer than {MOST_SECONDS // 60} minutes: cut it into parts"
    if opened.frames > most:
        raise SoundError(too_long)
    mixed: list[Samples] = []
    total = 0
    for piece in opened.pieces:
        total += len(piece)
        if total > most:  # more than the header said
            raise SoundError(too_long)
        with np.errstate(invalid="ignore", over="ignore"):  # what is no number is refused below
            mixed.append(piece.mean(axis=1, dtype=np.float64).astype(np.float32))
    if not total:
        raise SoundError(f"{path} holds 0 seconds of sound: record it anew")
    samples = np.concatenate(mixed)
    if not np.isfinite(samples).all():
        raise SoundError(f"{path} has samples that are no finite numbers: convert it anew")
    return samples


def _open(path: Path, file: IO[bytes]) -> AbstractContextManager[_Opened]:
    try:
        import soundfile  # noqa: F401 - the reader itself imports it again
    except (ImportError, OSError):  # OSError: the package is there, but not its library
        return _open_wave(path, file)
    return _open_soundfile(path, file)


@contextmanager
def _open_soundfile(path: Path, file: IO[bytes]) -> Iterator[_Opened]:
    import soundfile

    try:
        # By descriptor, not by name: the library would take a name that ends in .raw for a sound without a header.
        with soundfile.SoundFile(file) as sound:
            count = max(1, PIECE // sound.channels)
            pieces = _until_empty(lambda: sound.read(count, dtype="float32", always_2d=True))
            yield _Opened(rate=sound.samplerate, channels=sound.channels, frames=max(sound.frames, 0), pieces=pieces)
    except (soundfile.SoundFileError, TypeError) as error:
        reason = getattr(error, "error_string", error)  # what the library says, without its words for our stream
        raise SoundError(f"{path} cannot be read as a recording ({_short(reason)}): replace or remove it") from error


@contextmanager
def _open_wave(path: Path, file: IO[bytes]) -> Iterator[_Opened]:
    if path.suffix.lower() != ".wav":
        raise SoundError(f"{path} is no .wav, and other recordings need soundfile: pip install 'clearformer[sound]'")
    try:
        with closing(wave.open(file)) as sound:
            width, channels = sound.getsampwidth(), sound.getnchannels()
            if width not in WIDTHS:
                raise wave.Error(f"{8 * width} bits per sample")
            count = max(1, PIECE // channels)
            pieces = _until_empty(lambda: _numbers(sound.readframes(count), width, channels))
            yield _Opened(rate=sound.getframerate(), channels=channels, frames=sound.getnframes(), pieces=pieces)
    except (wave.Error, EOFError, ValueError, ZeroDivisionError, RuntimeError) as error:  # the last: a chunk beyond all
        if isinstance(error, SoundError):
            raise
        raise SoundError(
            f"{path} cannot be read as plain WAV ({_short(error)}): replace it, or pip install 'clearformer[sound]'"
        ) from error


def _until_empty(read: Callable[[], NDArray[np.floating[Any]]]) -> Iterator[NDArray[np.floating[Any]]]:
    while len(piece := read()):
        yield piece


def _numbers(content: bytes, width: int, channels: int) -> NDArray[np.floating[Any]]:
    """The samples of PCM bytes, little end first. Eight bits count from 0, with silence at 128; others from below 0."""
    whole = content[: len(content) // (width * channels) * width * channels]  # a file may end in the middle of one
    if width == 1:
        numbers = np.frombuffer(whole, dtype=np.uint8).astype(np.float64) - 128
    elif width == 3:  # put into the upper three of four bytes, and taken down again
        wide = np.zeros((len(whole) // 3, 4), dtype=np.uint8)
        wide[:, 1:] = np.frombuffer(whole, dtype=np.uint8).reshape(-1, 3)
        numbers = wide.reshape(-1).view("<i4").astype(np.float64) / 256
    else:
        numbers = np.frombuffer(whole, dtype=f"<i{width}").astype(np.float64)
    return numbers.reshape(-1, channels) / 2.0 ** (8 * width - 1)


def _short(error: Any) -> str:
    return str(error).split("\n")[0][:120] or type(error).__name__
