"""From what a network says of every pixel to instances: pixels vote for centres, and water flows from the winners.

Each foreground pixel points at the centre of its instance. Where many point is a centre (Cheng et al., 2020); the
pixels that point there are its seed. All others are reached by a watershed over the rims, so that two things that touch
are parted where the network sees an edge, whatever their offsets say.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clearformer.inference.watershed import watershed

Values = NDArray[np.floating]


@dataclass(frozen=True, kw_only=True)
class InstanceReading:
    """How values become instances. Sizes in pixels.

    threshold: foreground is what is more probable. reach: votes within this distance are for one centre. votes: as many
    a centre has at least. smallest: instances with fewer pixels are left out.
    """

    threshold: float = 0.5
    reach: int = 2
    votes: int = 8
    smallest: int = 12


def find_instances(foreground: Values, rim: Values, offsets: Values, reading: InstanceReading) -> NDArray[np.int32]:
    """Y X numbers from 1, without gaps; 0 is background. foreground, rim: probabilities Y X; offsets: 2 Y X, pixels."""
    inside = foreground > reading.threshold
    y, x = np.nonzero(inside)
    if not len(y):
        return np.zeros(inside.shape, dtype=np.int32)
    pointed = np.rint(np.stack((y, x)) + offsets[:, y, x])
    down, right = (places.clip(0, size - 1).astype(np.intp) for places, size in zip(pointed, inside.shape, strict=True))
    centres = _centres(down, right, inside.shape, reading)
    seeds = np.zeros(inside.shape, dtype=np.int32)
    seeds[y, x] = _zones(centres, reading.reach + 1)[down, right]
    found = watershed(rim - foreground, seeds, inside)
    return in_order(_one_piece_each(_without_seed(found, inside), reading.smallest))


def _centres(
    down: NDArray[np.intp], right: NDArray[np.intp], shape: tuple[int, ...], reading: InstanceReading
) -> NDArray[np.int32]:
    """Numbered places where more point than anywhere near."""
    from scipy.ndimage import label, maximum_filter, uniform_filter

    votes = np.bincount(down * shape[1] + right, minlength=shape[0] * shape[1]).reshape(shape).astype(np.float64)
    side = 2 * reading.reach + 1
    near = uniform_filter(votes, side, mode="constant") * side**2
    near += 1e-3 * uniform_filter(near, side, mode="constant")  # between equals, the one with more around it
    best = (near >= maximum_filter(near, 2 * side - 1, mode="constant")) & (near >= reading.votes)
    numbered: NDArray[np.int32] = label(best, np.ones((3, 3)))[0].astype(np.int32)
    return numbered


def _zones(centres: NDArray[np.int32], reach: int) -> NDArray[np.int32]:
    """Every place within reach of a centre has the number of the nearest one."""
    from scipy.ndimage import distance_transform_edt

    if not centres.any():
        return centres
    distance, nearest = distance_transform_edt(centres == 0, return_indices=True)
    zones: NDArray[np.int32] = np.where(distance <= reach, centres[tuple(nearest)], 0)
    return zones


def _without_seed(found: NDArray[np.int32], inside: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Foreground that no seed reached is a thing of its own."""
    from scipy.ndimage import label

    more = label(inside & (found == 0))[0].astype(np.int32)
    whole: NDArray[np.int32] = np.where(more > 0, more + found.max(), found)
    return whole


def _one_piece_each(numbers: NDArray[np.int32], smallest: int) -> NDArray[np.int32]:
    """The largest piece of each number; other pieces go to what they touch, or are left out where that is nothing."""
    from scipy.ndimage import find_objects, label

    seeds = np.zeros_like(numbers)
    for number, place in enumerate(find_objects(numbers), start=1):
        if place is None:
            continue
        pieces, count = label(numbers[place] == number)
        areas = np.bincount(pieces.ravel())[1:]
        if count and areas.max() >= smallest:
            seeds[place][pieces == 1 + areas.argmax()] = number
    return watershed(np.zeros(numbers.shape), seeds, numbers > 0)


def in_order(numbers: NDArray[np.int32]) -> NDArray[np.int32]:
    """The same instances numbered 1, 2, 3 … in reading order, without gaps."""
    found, first = np.unique(numbers, return_index=True)
    order = found[np.argsort(first)]
    order = order[order > 0]
    table = np.zeros(int(numbers.max()) + 1, dtype=np.int32)
    table[order] = np.arange(1, len(order) + 1)
    ordered: NDArray[np.int32] = table[numbers]
    return ordered
