"""What can be damaged: small whole files of each kind, how they are damaged, and the reader that must refuse them."""

import gzip
import io
import struct
import sys
import wave
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from support.damage import Files, damaged, with_right_sums
from support.damaged_boxes import coco, voc
from support.drawn_picture import drawn_picture


class Damaged:
    """One file, made from whole ones by changes of its bytes."""

    def __init__(
        self, folder: Path, name: str, whole: list[bytes], hear: Callable[[Path], str | None], *, sums: bool = False
    ) -> None:
        self.name, self.path, self.whole, self.hear, self.sums = name, folder / name, whole, hear, sums

    def read_whole(self) -> None:
        for content in self.whole:
            self.path.write_bytes(content)
            assert (said := self.read()) is None, said

    def write(self, draw: np.random.Generator) -> None:
        made = damaged(self.whole[int(draw.integers(len(self.whole)))], draw, tuple(self.whole))
        self.path.write_bytes(with_right_sums(made) if self.sums and draw.random() < 0.7 else made)

    def read(self) -> str | None:
        return self.hear(self.path)

    def remove(self) -> None:
        self.path.unlink()


def _saved(image: Image.Image, kind: str, **options: Any) -> bytes:
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return stream.getvalue()


def _picture(path: Path) -> str | None:
    from clearformer.data.readers.pictures import PictureError, read_picture

    try:
        found = read_picture(path)
    except PictureError as error:
        return str(error)
    assert found.dtype == np.uint8
    assert found.ndim == 3
    assert found.size
    return None


def _mask(path: Path) -> str | None:
    from clearformer.data.readers.mask_files import read_mask
    from clearformer.data.readers.pictures import PictureError

    try:
        found = read_mask(path)
    except PictureError as error:
        return str(error)
    assert found.dtype == np.uint16
    assert found.ndim == 2
    return None


def _sound(path: Path) -> str | None:
    from clearformer.data.readers.sounds import SoundError, read_sound

    try:
        found = read_sound(path, rate=16_000)
    except SoundError as error:
        return str(error)
    assert found.dtype == np.float32
    assert np.isfinite(found).all()
    return None


def _digits(path: Path) -> str | None:
    from clearformer.data.readers.idx_files import read_idx_pair
    from clearformer.data.readers.pictures import PictureError

    try:
        found = list(read_idx_pair(path, path.with_name("labels.idx")))
    except PictureError as error:
        return str(error)
    assert len(found) == 7
    return None


def pngs(folder: Path) -> Files:
    modes = ("1", "L", "LA", "P", "RGB", "RGBA", "I;16")
    whole = [_saved(drawn_picture(mode), "PNG") for mode in modes]
    return Damaged(
        folder, "damaged.png", [*whole, _saved(drawn_picture("RGB"), "PNG", compress_level=0)], _picture, sums=True
    )


def jpegs(folder: Path) -> Files:
    whole = [_saved(drawn_picture(mode), "JPEG") for mode in ("L", "RGB", "CMYK")]
    exif = Image.Exif()
    exif[0x0112] = 6
    whole.append(_saved(drawn_picture("RGB"), "JPEG", progressive=True, exif=exif))
    return Damaged(folder, "damaged.jpg", whole, _picture)


def other_pictures(folder: Path) -> Files:
    """Formats that are read besides: nobody has to have asked for them, the content decides."""
    whole = [_saved(drawn_picture("RGB"), kind) for kind in ("BMP", "GIF", "WEBP", "TIFF")]
    return Damaged(
        folder, "damaged.img", [*whole, _saved(drawn_picture("L"), "TIFF", compression="tiff_lzw")], _picture
    )


def masks(folder: Path) -> Files:
    whole = [_saved(drawn_picture(mode), "PNG") for mode in ("1", "L", "P", "I;16")]
    return Damaged(folder, "damaged.png", whole, _mask, sums=True)


def waves(folder: Path) -> Files:
    """By the sound library."""
    return Damaged(folder, "damaged.wav", _waves(), _sound)


def plain_waves(folder: Path) -> Files:
    """By Python's own module, as where no sound library is installed."""
    sys.modules["soundfile"] = None  # type: ignore[assignment]  # this is how Python says that there is none
    return Damaged(folder, "damaged.wav", _waves(), _sound)


def flacs(folder: Path) -> Files:
    import soundfile

    whole = []
    for channels, rate, subtype in ((1, 8_000, "PCM_16"), (2, 44_100, "PCM_24"), (1, 16_000, "PCM_S8")):
        stream = io.BytesIO()
        soundfile.write(stream, np.stack([_tone()] * channels, 1), rate, format="FLAC", subtype=subtype)
        whole.append(stream.getvalue())
    return Damaged(folder, "damaged.flac", whole, _sound)


def idx(folder: Path) -> Files:
    header = struct.pack(">4B3I", 0, 0, 8, 3, 7, 5, 4)
    plain = header + bytes(range(140))
    (folder / "labels.idx").write_bytes(struct.pack(">4BI", 0, 0, 8, 1, 7) + bytes(7))
    return Damaged(folder, "damaged.idx", [plain, gzip.compress(plain, mtime=0)], _digits)


def _tone() -> np.ndarray:
    return (0.5 * np.sin(np.arange(1500) / 9)).astype(np.float32)


def _waves() -> list[bytes]:
    return [_wave(1, 2, 16_000), _wave(1, 1, 8_000), _wave(2, 3, 44_100), _wave(2, 4, 22_050)]


def _wave(channels: int, width: int, rate: int) -> bytes:
    stream = io.BytesIO()
    with wave.open(stream, "wb") as sound:
        sound.setnchannels(channels)
        sound.setsampwidth(width)
        sound.setframerate(rate)
        numbers = np.stack([_tone()] * channels, 1) * (2.0 ** (8 * width - 1) - 1) + (128 if width == 1 else 0)
        wide = numbers.astype("<i4").reshape(-1, 1).view(np.uint8)[:, :width]
        sound.writeframes(wide.tobytes())
    return stream.getvalue()


KINDS: dict[str, Callable[[Path], Files]] = {
    "png": pngs,
    "jpeg": jpegs,
    "other-pictures": other_pictures,
    "mask": masks,
    "wav": waves,
    "plain-wav": plain_waves,
    "flac": flacs,
    "idx": idx,
    "coco": coco,
    "voc": voc,
}
