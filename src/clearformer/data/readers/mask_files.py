"""One mask file as numbers: for every pixel the instance or the class that it belongs to.

A mask is a picture without shades: grey or palette values are numbers, of 8 or 16 bits. Colours have to be listed,
because one that nobody listed (the blurred edge of a resized mask, a JPEG's noise) would become a class of its own.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearformer.data.readers.pictures import PictureError, Pixels, opened_picture

LARGEST = (1 << 16) - 1  # 16 bits hold every number
LOSSY = ("JPEG", "WEBP")  # a mask saved so has numbers that nobody drew

Mask = NDArray[np.uint16]  # height, width
Colour = tuple[int, int, int]


@dataclass(frozen=True, kw_only=True)
class MaskedPicture:
    """A picture with a number for each of its pixels; 0 is background. path: where it comes from, for messages."""

    pixels: Pixels
    mask: Mask
    path: str

    def __post_init__(self) -> None:
        if self.mask.shape != self.pixels.shape[:2]:
            shapes = " and ".join(f"{width} × {height}" for height, width in (self.mask.shape, self.pixels.shape[:2]))
            raise PictureError(f"{self.path}: mask and picture have different sizes ({shapes}); draw the mask anew")


def read_mask(path: Path, colours: Mapping[Colour, int] | None = None) -> Mask:
    """The numbers of a mask file. colours: what number each colour of a colour mask stands for."""
    if find_spec("PIL") is None:
        raise PictureError("reading mask files needs pillow: pip install 'clearformer[pictures]'")
    try:
        if path.exists() and not path.is_file():  # a pipe would be waited for, for ever
            raise PictureError("it is no plain file")
        with path.open("rb") as stream, opened_picture(stream) as opened:
            if getattr(opened, "n_frames", 1) > 1:
                raise PictureError("it has several frames")
            if opened.format in LOSSY:
                raise PictureError(f"{opened.format} changes the numbers of a mask; save it as PNG")
            mode, values = opened.mode, np.asarray(opened)
    except FileNotFoundError:
        raise PictureError(f"{path} does not exist: check the name") from None
    except Exception as error:  # whatever a damaged file makes the library say
        reason = str(error).split("\n")[0][:120] or type(error).__name__
        raise PictureError(f"{path} cannot be read as a mask ({reason}): replace or remove it") from error
    return _numbers(path, mode, values, colours)


def _numbers(path: Path, mode: str, values: NDArray[Any], colours: Mapping[Colour, int] | None) -> Mask:
    if mode in ("LA", "La"):
        values = values[..., 0]
    if values.ndim == 3:
        values = values[..., :3]
        if colours:
            return _listed(path, values, colours)
        if not (values == values[..., :1]).all():
            first = values[(values != values[..., :1]).any(axis=-1)][0]
            raise PictureError(
                f"{path} is a mask in colours (such as {_written(first)}), and nobody says what they mean: list them "
                "in classes.txt beside the masks, one class per line, as in `cell #ff0000`"
            )
        values = values[..., 0]
    if values.dtype.kind not in "bui" or values.min(initial=0) < 0 or values.max(initial=0) > LARGEST:
        raise PictureError(f"{path} has numbers that are not between 0 and {LARGEST:,}: save it with 8 or 16 bits")
    return values.astype(np.uint16)


def _listed(path: Path, values: NDArray[Any], colours: Mapping[Colour, int]) -> Mask:
    """Each colour's number; one that is not listed is refused."""
    codes = _code(values)
    known = np.array([int(_code(np.array(colour))) for colour in colours])
    numbers = np.array(list(colours.values()))
    order = known.argsort()
    place = order[np.searchsorted(known, codes, sorter=order).clip(max=len(known) - 1)]
    strange = known[place] != codes
    if strange.any():
        raise PictureError(
            f"{path} has the colour {_written(values[strange][0])}, which classes.txt does not list: add it there, or "
            "draw the mask without blurred edges"
        )
    mask: Mask = numbers[place].astype(np.uint16)
    return mask


def _code(values: NDArray[Any]) -> NDArray[np.int64]:
    coded: NDArray[np.int64] = values.astype(np.int64) @ np.array([1 << 16, 1 << 8, 1])
    return coded


def _written(colour: Iterable[int]) -> str:
    return "#" + "".join(f"{int(value):02x}" for value in colour)


def join_instances(paths: Sequence[Path]) -> Mask:
    """One mask from one file per instance: 1, 2, 3 … in the order of the files; where two overlap, the later one."""
    if len(paths) > LARGEST:
        raise PictureError(f"{paths[0].parent} has {len(paths):,} masks, more than {LARGEST:,} for one picture")
    joined: Mask | None = None
    for number, path in enumerate(paths, start=1):
        one = read_mask(path)
        if joined is None:
            joined = np.zeros(one.shape, dtype=np.uint16)
        if one.shape != joined.shape:
            raise PictureError(f"{path} has another size than {paths[0]}: draw it anew")
        joined[one > 0] = number
    if joined is None:
        raise PictureError("a picture without a mask cannot be read: draw an empty one where there is nothing")
    return joined
