"""A crop of a picture with its mask, changed as one: mirrored, turned, scaled, lighter or darker.

What is drawn comes from the generator alone. A crop that reaches over a picture's edge sees the picture mirrored there,
and nothing is asked of those pixels.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clearformer.data.readers.mask_files import Mask
from clearformer.data.readers.pictures import Pixels

OUTSIDE = -1  # number of a pixel that is not part of the picture


class Crop(NamedTuple):
    """pixels: size size C, bytes. numbers: size size, OUTSIDE where there is no picture.

    centres: y and x of instance 1, 2 … in the crop's pixels, K 2; they may lie outside of it.
    """

    pixels: Pixels
    numbers: NDArray[np.int32]
    centres: NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class CropChanges:
    """What a crop may differ in from the picture."""

    flip: bool = False
    turn: bool = False
    scale: float = 1.0
    light: float = 0.0
    invert: float = 0.0


def centres_of(mask: Mask) -> NDArray[np.float32]:
    """The mean place of each instance: row k - 1 is that of number k; of numbers that do not occur, nothing is said."""
    flat = mask.ravel()
    counts = np.bincount(flat).astype(np.float64)
    y, x = np.divmod(np.arange(flat.size), mask.shape[1])
    sums = np.stack([np.bincount(flat, weights=place) for place in (y, x)], axis=1)
    centres: NDArray[np.float32] = (sums / np.maximum(counts, 1)[:, None])[1:].astype(np.float32)
    return centres


def draw_crop(pixels: Pixels, mask: Mask, size: int, changes: CropChanges, random: np.random.Generator) -> Crop:
    """A changed crop of a random place."""
    pixels, mask = _turned(pixels, mask, changes, random)
    log = np.log(changes.scale)
    factor = float(np.exp(random.uniform(-log, log)))  # above 1: things look larger
    side = max(1, round(size / factor))
    top, left = (int(random.integers(min(0, have - side), max(0, have - side) + 1)) for have in mask.shape)
    return cut_crop(_lit(pixels, changes, random), mask, size, (top, left, side))


def cut_crop(pixels: Pixels, mask: Mask, size: int, window: tuple[int, int, int]) -> Crop:
    """The window of that top, left and side, as a square of `size` pixels."""
    top, left, side = window
    steps = (np.arange(size) + 0.5) * side / size - 0.5
    rows, columns = (
        mirrored(np.rint(start + steps), have) for start, have in zip((top, left), mask.shape, strict=True)
    )
    cut = pixels[rows[:, None], columns] if side == size else _smooth(pixels, top + steps, left + steps)
    numbers = mask[rows[:, None], columns].astype(np.int32)
    inside = [
        (np.rint(start + steps) >= 0) & (np.rint(start + steps) < have)
        for start, have in zip((top, left), mask.shape, strict=True)
    ]
    numbers[~(inside[0][:, None] & inside[1])] = OUTSIDE
    centres = (centres_of(mask) - (top, left) + 0.5) * (size / side) - 0.5
    return Crop(np.ascontiguousarray(cut), numbers, centres.astype(np.float32))


def mirrored(places: NDArray[np.floating] | NDArray[np.integer], size: int) -> NDArray[np.intp]:
    """Places beyond an edge, as often as need be, as the places that a mirror there would show."""
    period = max(1, 2 * (size - 1))
    back = np.abs(places) % period
    return np.minimum(back, period - back).astype(np.intp) if size > 1 else np.zeros(len(places), dtype=np.intp)


def _smooth(pixels: Pixels, rows: NDArray[np.floating], columns: NDArray[np.floating]) -> Pixels:
    """Values between pixels, by distance."""
    height, width = pixels.shape[:2]
    y, x = np.floor(rows), np.floor(columns)
    down, right = (rows - y)[:, None, None], (columns - x)[None, :, None]
    above, below = (mirrored(y + step, height)[:, None] for step in (0, 1))
    before, behind = (mirrored(x + step, width) for step in (0, 1))
    upper = pixels[above, before] * (1 - right) + pixels[above, behind] * right
    lower = pixels[below, before] * (1 - right) + pixels[below, behind] * right
    mixed: Pixels = np.rint(upper * (1 - down) + lower * down).astype(np.uint8)
    return mixed


def _turned(pixels: Pixels, mask: Mask, changes: CropChanges, random: np.random.Generator) -> tuple[Pixels, Mask]:
    if changes.turn and (quarters := int(random.integers(4))):
        pixels, mask = np.rot90(pixels, quarters), np.rot90(mask, quarters)
    if changes.flip and random.random() < 0.5:
        pixels, mask = pixels[:, ::-1], mask[:, ::-1]
    return pixels, mask


def _lit(pixels: Pixels, changes: CropChanges, random: np.random.Generator) -> Pixels:
    """Another brightness, contrast and gamma; perhaps dark for light, as with another stain."""
    if not (changes.light or changes.invert):
        return pixels
    levels = np.arange(256) / 255
    if changes.invert and random.random() < changes.invert:
        levels = 1 - levels
    if changes.light:
        up, wider, bend = random.uniform(-changes.light, changes.light, size=3)
        levels = np.clip(levels ** np.exp2(2 * bend) * np.exp2(wider) + up / 4, 0, 1)
    table = np.rint(255 * levels).astype(np.uint8)
    lit: Pixels = table[pixels]
    return lit


def stretched(pixels: Pixels) -> Pixels:
    """Brightness spread over the whole range, as much for a whole picture as its darkest and lightest parts allow.

    A picture of almost one shade is not spread more than eight times, or its noise would look like things.
    """
    low, high = np.quantile(pixels, (0.002, 0.998))
    high = max(high, low + 255 / 8)
    spread: Pixels = np.rint((pixels.astype(np.float32) - low) * (255 / (high - low))).clip(0, 255).astype(np.uint8)
    return spread
