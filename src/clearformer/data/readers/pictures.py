"""One picture file as an array of bytes, height by width by channels, in the size that it has; or a refusal by name.

Upright as its EXIF note says; CMYK and palettes as colours; 16 bits by their upper eight; what is transparent lies on
white. What would be cut silently is refused instead: an animation has no single picture, and a number without a known
range has no brightness. The content decides what a file is, whatever its ending says.
"""

import stat
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from PIL import Image

ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff")
FORMATS = ("PNG", "JPEG", "BMP", "GIF", "WEBP", "TIFF")  # pillow knows more, and some of them start other programs
MOST_PIXELS = 1 << 26  # of one picture, 8192 × 8192: larger ones are bombs
# Pixels that one byte of a file can stand for: zlib packs 1,032 bytes into one, and a PNG's pixel has a bit or more; a
# JPEG needs a bit for every eight by eight.
MOST_IN_BYTE = {"PNG": 8 * 1100, "JPEG": 520, "MPO": 520}
DEEP = 1 << 16  # one more than the largest number of 16 bits

Fit = Literal["middle", "stretch", "shortest"]
Resample = Literal["nearest", "bilinear", "bicubic", "lanczos", "box", "hamming"]
Pixels = NDArray[np.uint8]  # height, width, channels
_warnings = threading.Lock()  # python keeps its filters for the whole process


class PictureError(ValueError):
    """A picture or a file of pictures cannot be read; the message names it and says what to do."""


def read_picture(path: Path, *, channels: int | None = None, upright: bool = True) -> Pixels:
    """One picture file. channels: 1 for grey, 3 for colour; by default as the picture has it.

    upright: turned as the camera's note says. Without it, the pixels lie as the file has them: for boxes and masks that
    somebody drew over those.
    """
    try:
        kind = path.stat().st_mode
        if stat.S_ISDIR(kind):
            raise PictureError(f"{path} cannot be read as a picture (it is a folder): give the files in it")
        if not stat.S_ISREG(kind):  # a pipe would be waited for, for ever
            raise PictureError(f"{path} cannot be read as a picture (it is no plain file): give a picture file")
        with path.open("rb") as stream:
            return decode_picture(stream, str(path), channels=channels, upright=upright)
    except FileNotFoundError:
        raise PictureError(f"{path} does not exist: check the name") from None
    except OSError as error:
        raise PictureError(f"{path} cannot be read ({error.strerror or error}): check the file") from error


def decode_picture(stream: IO[bytes], name: str, *, channels: int | None = None, upright: bool = True) -> Pixels:
    """The same from an open file, which can be searched. name: what to call it where it is refused."""
    try:
        from PIL import UnidentifiedImageError
    except ImportError:
        raise PictureError("reading picture files needs pillow: pip install 'clearformer[pictures]'") from None
    try:
        with opened_picture(stream) as opened:
            _refuse_unusable(opened)
            return _as_pixels(_turned(opened) if upright else opened, channels)
    except UnidentifiedImageError:
        raise _refusal(name, _what_instead(stream)) from None
    except UnusableError as error:
        raise _refusal(name, str(error), error.remedy) from None
    except MemoryError:
        raise _refusal(name, "it does not fit into memory", "make it smaller") from None
    except Exception as error:  # whatever a damaged file makes the library say
        raise _refusal(name, _short(error)) from error


@contextmanager
def opened_picture(stream: IO[bytes]) -> Iterator["Image.Image"]:
    """The header of a picture, of which nothing is unpacked yet. What unpacks to far more than its bytes is refused."""
    from PIL import Image

    with _warnings, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of damage that is refused, or does not matter
        with Image.open(stream, formats=FORMATS) as opened:
            area, shape = opened.width * opened.height, f"{opened.width:,} × {opened.height:,}"
            if area > MOST_PIXELS:
                raise UnusableError(f"it has {shape} pixels, more than {MOST_PIXELS:,}", "make it smaller")
            if not area:
                raise UnusableError("it has no pixels", "replace or remove it")
            if area > MOST_IN_BYTE.get(opened.format or "", area) * _size(stream):
                raise UnusableError(f"its {shape} pixels cannot be in so few bytes", "get it anew")
            yield opened


class UnusableError(Exception):
    """A picture that is whole and cannot be used as it is."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(reason)
        self.remedy = remedy


def _refuse_unusable(opened: "Image.Image") -> None:
    """Before anything is unpacked."""
    # A telephone's JPEG may have further pictures behind the one that it shows; they are no animation.
    if opened.format not in ("JPEG", "MPO") and (frames := getattr(opened, "n_frames", 1)) > 1:
        raise UnusableError(f"it has {frames:,} frames or pages", "save those that you need as pictures")
    if opened.mode == "F":
        raise UnusableError("its pixels are numbers without a known range", "save it with 8 or 16 bits a channel")


def _size(stream: IO[bytes]) -> int:
    here = stream.tell()
    size = stream.seek(0, 2)
    stream.seek(here)
    return size


def _turned(opened: "Image.Image") -> "Image.Image":
    from PIL import ImageOps

    ImageOps.exif_transpose(opened, in_place=True)  # else it would be copied, turned or not
    return opened


def _as_pixels(image: "Image.Image", channels: int | None) -> Pixels:
    """Bytes, in grey or colour."""
    from PIL import Image

    grey = image.mode in ("1", "L", "LA", "La", "I") or image.mode.startswith("I;")
    mode = {1: "L", 3: "RGB"}[channels or (1 if grey else 3)]
    if image.mode.startswith("I"):  # keep the upper eight of 16 bits, where a plain conversion would cut
        numbers = np.asarray(image).astype(np.int64)
        if numbers.min() < 0 or numbers.max() >= DEEP:
            raise UnusableError("its numbers need more than 16 bits", "save it with 8 or 16 bits a channel")
        image = Image.fromarray((numbers >> 8).astype(np.uint8))
    elif image.has_transparency_data:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    elif image.mode == "CMYK":  # inks: grey is made of the colours that they give
        image = image.convert("RGB")
    pixels: Pixels = np.asarray(image if image.mode == mode else image.convert(mode), dtype=np.uint8)
    return pixels if pixels.ndim == 3 else pixels[..., None]


def _what_instead(stream: IO[bytes]) -> str:
    stream.seek(0)
    return "it is no PNG, JPEG, BMP, GIF, WebP or TIFF" if stream.read(1) else "it is empty"


def _refusal(name: str, reason: str, remedy: str = "replace or remove it") -> PictureError:
    return PictureError(f"{name} cannot be read as a picture ({reason}): {remedy}")


def fit_square(
    pixels: Pixels,
    size: int,
    channels: int,
    *,
    fit: Fit = "middle",
    resample: Resample = "bilinear",
    resized: int | None = None,
) -> Pixels:
    """A picture as a square of `size`, in grey or colour.

    fit: "middle" takes the largest square of the middle and scales it; "stretch" scales the whole picture, whatever its
    ratio; "shortest" scales it until its shorter side fits. resized: to which side; the middle `size` of it is taken.
    """
    from PIL import Image

    side = resized or size
    if pixels.shape == (size, size, channels) and side == size:
        return pixels
    image = Image.fromarray(pixels[..., 0] if pixels.shape[2] == 1 else pixels)
    image = image.convert({1: "L", 3: "RGB"}[channels])
    if fit == "middle":
        image = _middle(image, min(image.size))
    scaled = _scaled(image.size, side) if fit == "shortest" else (side, side)
    image = _middle(image.resize(scaled, Image.Resampling[resample.upper()]), size)
    result: Pixels = np.asarray(image, dtype=np.uint8)
    return result if result.ndim == 3 else result[..., None]


def fit_within(pixels: Pixels, longest: int) -> Pixels:
    """A picture whose longer side has at most so many pixels; a smaller one as it is."""
    from PIL import Image

    height, width, channels = pixels.shape
    if max(height, width) <= longest:
        return pixels
    share = longest / max(height, width)
    size = max(1, round(width * share)), max(1, round(height * share))
    image = Image.fromarray(pixels[..., 0] if channels == 1 else pixels)
    result: Pixels = np.asarray(image.resize(size, Image.Resampling.BOX), dtype=np.uint8)
    return result if result.ndim == 3 else result[..., None]


def _middle(image: "Image.Image", side: int) -> "Image.Image":
    left, top = (image.width - side) // 2, (image.height - side) // 2
    return image.crop((left, top, left + side, top + side))


def _scaled(size: tuple[int, int], shortest: int) -> tuple[int, int]:
    """Width and height, the shorter of them as wanted, the longer one rounded down."""
    width, height = size
    return (shortest, shortest * height // width) if width <= height else (shortest * width // height, shortest)


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
