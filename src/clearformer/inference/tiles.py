"""A picture of any size through a network that reads squares of one: overlapping tiles, their borders blended.

A tile knows little of what lies beyond its edge, so its values count less there: the weights of overlapping tiles rise
from their edges inward. A picture smaller than a tile is mirrored around; nothing is cut and nothing is scaled.
"""

from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor

from clearformer.data.mask_crops import mirrored
from clearformer.data.readers.pictures import Pixels

OVERLAP = 0.5  # of a tile's side, at least, that neighbours share


def starts(length: int, size: int, overlap: float = OVERLAP) -> list[int]:
    """Where tiles begin along one side, evenly, so that the first and the last meet its ends."""
    if length <= size:
        return [-((size - length) // 2)]  # in the middle of what is mirrored around it
    step = max(1, int(size * (1 - overlap)))
    count = -(-(length - size) // step) + 1
    return [round(number * (length - size) / (count - 1)) for number in range(count)]


def tile_places(height: int, width: int, size: int, overlap: float = OVERLAP) -> list[tuple[int, int]]:
    """The upper left corner of every tile, row by row."""
    return [(top, left) for top in starts(height, size, overlap) for left in starts(width, size, overlap)]


def weights(size: int) -> Tensor:
    """How much each pixel of a tile counts: Y X, from nearly nothing at the edges to 1 in the middle."""
    ramp = 1 - (torch.arange(size) + 0.5 - size / 2).abs() / (size / 2)
    return ramp[:, None] * ramp


def cut_tile(pixels: Pixels, top: int, left: int, size: int) -> Pixels:
    """One tile; beyond the picture's edges as a mirror there would show it."""
    rows, columns = (
        mirrored(start + np.arange(size), have) for start, have in zip((top, left), pixels.shape[:2], strict=True)
    )
    return pixels[rows[:, None], columns]


def in_tiles(
    pixels: Pixels, size: int, read: Callable[[list[Pixels]], Tensor], *, batch: int, overlap: float = OVERLAP
) -> Tensor:
    """Values for every pixel of a picture: C Y X. read: squares -> N C size size; it sees at most `batch` at a time."""
    height, width = pixels.shape[:2]
    places = tile_places(height, width, size, overlap)
    share, total, count = weights(size), None, torch.zeros(height, width)
    for some in _portions(places, batch):
        for (top, left), values in zip(some, read([cut_tile(pixels, *place, size) for place in some]), strict=True):
            if total is None:
                total = torch.zeros(values.size(0), height, width)
            inside = _inside(top, height, size), _inside(left, width, size)
            there = (
                slice(inside[0].start + top, inside[0].stop + top),
                slice(inside[1].start + left, inside[1].stop + left),
            )
            total[:, there[0], there[1]] += values[:, inside[0], inside[1]] * share[inside]
            count[there] += share[inside]
    assert total is not None
    return total / count


def _inside(start: int, length: int, size: int) -> slice:
    """The part of a tile that is picture."""
    return slice(max(0, -start), min(size, length - start))


def _portions(places: list[tuple[int, int]], size: int) -> Iterator[list[tuple[int, int]]]:
    return (places[start : start + size] for start in range(0, len(places), size))
