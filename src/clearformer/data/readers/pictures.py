"""Pictures with classes: idx files as MNIST has them, or a folder with one subfolder per class.

What cannot be read is refused by file name. Pictures come out as bytes, height by width by channels.
"""

import gzip
import math
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearformer.data.file_facts import GZIP_MAGIC

ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp")
MOST_BYTES = 4 << 30  # of an idx file, unpacked
MOST_PIXELS = 1 << 26  # of one picture, 8192 × 8192: larger ones are bombs
PIECE = 1 << 20  # bytes that are read at a time: a header may promise what is not there
UNSIGNED_BYTES = 0x08  # idx's code for the only kind of number that pictures and labels have

Pixels = NDArray[np.uint8]  # height, width, channels


class PictureError(ValueError):
    """A picture or a file of pictures cannot be read; the message names it and says what to do."""


@dataclass(frozen=True, kw_only=True)
class LabelledPicture:
    """A picture with its class. path: where it comes from, for messages."""

    pixels: Pixels
    label: str
    path: str


def read_idx(path: Path) -> NDArray[np.uint8]:
    """An idx file, plain or gzipped: a big-endian header with the sizes, then bytes."""
    try:
        with path.open("rb") as file:
            packed = file.peek(2)[:2] == GZIP_MAGIC
        with gzip.open(path) if packed else path.open("rb") as stream:
            header = stream.read(4)
            if len(header) != 4 or header[:2] != b"\0\0" or header[2] != UNSIGNED_BYTES or not 1 <= header[3] <= 4:
                raise PictureError(f"{path} is not an idx file of bytes: get it anew, or give a folder of pictures")
            sizes = stream.read(4 * header[3])
            if len(sizes) != 4 * header[3]:
                raise PictureError(f"{path} ends in the middle of its header: get it anew")
            shape = [int(size) for size in np.frombuffer(sizes, dtype=">u4")]
            wanted = math.prod(shape)
            if wanted > MOST_BYTES:
                raise PictureError(f"{path} says that it holds {wanted:,} bytes, more than {MOST_BYTES:,}; refused")
            content = bytearray()
            while len(content) <= wanted and (piece := stream.read(min(PIECE, wanted + 1 - len(content)))):
                content += piece
    except OSError as error:
        raise PictureError(f"{path} cannot be read ({error.strerror or error}): check the file") from error
    except (EOFError, zlib.error) as error:
        raise PictureError(f"{path} is not a whole gzip file ({error}): get it anew") from error
    if len(content) != wanted:
        raise PictureError(f"{path} does not hold the {wanted:,} bytes that its header says: get it anew")
    return np.frombuffer(content, dtype=np.uint8).reshape(shape)


def read_idx_pair(pictures: Path, labels: Path) -> Iterator[LabelledPicture]:
    """Pictures and their classes from two idx files."""
    drawn, named = read_idx(pictures), read_idx(labels)
    if drawn.ndim not in (3, 4) or named.ndim != 1:
        raise PictureError(f"{pictures} and {labels} are not pictures and labels, in this order: exchange them?")
    if len(drawn) != len(named):
        raise PictureError(f"{pictures} has {len(drawn):,} pictures but {labels} has {len(named):,} labels")
    for number, (pixels, label) in enumerate(zip(drawn, named, strict=True)):
        whole = pixels if pixels.ndim == 3 else pixels[..., None]
        yield LabelledPicture(pixels=whole, label=str(int(label)), path=f"{pictures}#{number}")


def class_folders(folder: Path) -> list[Path]:
    """The subfolders that hold pictures, one per class, by name."""
    found = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    return [path for path in found if any(picture_files(path))]


def picture_files(folder: Path) -> Iterator[Path]:
    """The pictures of a class, in order."""
    return (path for path in sorted(folder.iterdir()) if path.suffix.lower() in ENDINGS and path.is_file())


def read_class_folders(folder: Path, *, channels: int | None = None) -> Iterator[LabelledPicture]:
    """Every picture of a folder with one subfolder per class."""
    for part in class_folders(folder):
        for path in picture_files(part):
            yield LabelledPicture(pixels=read_picture(path, channels=channels), label=part.name, path=str(path))


def read_picture(path: Path, *, channels: int | None = None) -> Pixels:
    """One picture file, upright. channels: 1 for grey, 3 for colour; by default as the picture has it."""
    try:
        from PIL import Image, ImageOps
    except ImportError:
        raise PictureError("reading picture files needs pillow: pip install 'clearformer[pictures]'") from None
    try:
        with Image.open(path) as opened:
            if opened.width * opened.height > MOST_PIXELS:  # nothing but the header was read
                raise PictureError(f"it has {opened.width:,} × {opened.height:,} pixels, more than {MOST_PIXELS:,}")
            image = ImageOps.exif_transpose(opened)
            grey = image.mode in ("1", "L", "LA", "I", "F") or image.mode.startswith("I;")
            mode = {1: "L", 3: "RGB"}[channels or (1 if grey else 3)]
            if image.mode.startswith("I"):  # 16 bits: keep the upper eight, where a plain conversion would cut
                image = Image.fromarray((np.asarray(image).astype(np.int64) >> 8).clip(0, 255).astype(np.uint8))
            pixels: Pixels = np.asarray(image.convert(mode), dtype=np.uint8)
    except FileNotFoundError:
        raise PictureError(f"{path} does not exist: check the name") from None
    except Exception as error:  # whatever a damaged file makes the library say
        raise PictureError(f"{path} cannot be read as a picture ({_short(error)}): replace or remove it") from error
    return pixels if pixels.ndim == 3 else pixels[..., None]


def fit_square(pixels: Pixels, size: int, channels: int) -> Pixels:
    """The middle square of a picture, scaled to `size`, in grey or colour."""
    from PIL import Image

    if pixels.shape[:2] == (size, size) and pixels.shape[2] == channels:
        return pixels
    image = Image.fromarray(pixels[..., 0] if pixels.shape[2] == 1 else pixels)
    image = image.convert({1: "L", 3: "RGB"}[channels])
    side = min(image.size)
    left, top = (image.width - side) // 2, (image.height - side) // 2
    scaled = image.crop((left, top, left + side, top + side)).resize((size, size), Image.Resampling.BILINEAR)
    result: Pixels = np.asarray(scaled, dtype=np.uint8)
    return result if result.ndim == 3 else result[..., None]


def channel_statistics(pictures: Iterable[Pixels]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Mean and deviation of each channel, which stands last, over all pixels of all pictures, as shares of 255."""
    total, square, count = np.zeros(1), np.zeros(1), 0
    for picture in pictures:
        values = picture.reshape(-1, picture.shape[-1]).astype(np.float64) / 255
        total, square, count = total + values.sum(axis=0), square + (values**2).sum(axis=0), count + len(values)
    mean = total / count
    deviation = np.sqrt(np.maximum(square / count - mean**2, 1e-8))
    return tuple(np.round(mean, 6).tolist()), tuple(np.round(deviation, 6).tolist())


def label_order(labels: Sequence[str]) -> tuple[str, ...]:
    """The classes in a definite order: numbers by value, words by letter."""
    distinct = set(labels)
    if all(label.isdecimal() for label in distinct):
        return tuple(sorted(distinct, key=int))
    return tuple(sorted(distinct))


def _short(error: Any) -> str:
    return str(error).split("\n")[0][:120] or type(error).__name__
