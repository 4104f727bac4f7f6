"""A picture with its mask drawn over it: a rim and a tint in a colour of its own for each thing."""

import colorsys
from typing import Any

import numpy as np
from numpy.typing import NDArray

TINT = 0.35  # how much of the colour lies over the inside
GOLDEN = 0.618034  # of the way around the colours: neighbours in number are far apart in colour
BACKGROUND = 0


def colours(count: int) -> NDArray[np.uint8]:
    """A colour for each number: count 3."""
    hues = [(0.08 + number * GOLDEN) % 1 for number in range(count)]
    drawn = [colorsys.hsv_to_rgb(hue, 0.85, 0.75 + 0.25 * (number % 2)) for number, hue in enumerate(hues)]
    return np.round(255 * np.array(drawn).reshape(-1, 3)).astype(np.uint8)


def overlay(pixels: NDArray[np.uint8], mask: NDArray[np.integer[Any]]) -> NDArray[np.uint8]:
    """pixels: Y X C, grey or colour; mask: Y X. Returns Y X 3; where the mask is 0, the picture as it is."""
    picture = np.broadcast_to(pixels, (*mask.shape, 3)).astype(np.float32)
    own = colours(int(mask.max()))[np.maximum(mask.astype(np.int64), 1) - 1] if mask.any() else np.zeros_like(picture)
    share = np.where(mask > BACKGROUND, TINT, 0.0)
    share[_rims(mask)] = 1.0
    drawn = picture * (1 - share[..., None]) + own * share[..., None]
    result: NDArray[np.uint8] = np.round(drawn).astype(np.uint8)
    return result


def _rims(mask: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
    """Pixels of a thing that have another number beside them."""
    padded = np.pad(mask, 1, mode="edge")
    middle = padded[1:-1, 1:-1]
    beside = (padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:])
    rims: NDArray[np.bool_] = (middle > BACKGROUND) & np.logical_or.reduce([other != middle for other in beside])
    return rims
