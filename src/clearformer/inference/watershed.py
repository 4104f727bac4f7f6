"""Seeded watershed: regions grow from seeds, over low ground first, until they meet.

A mask says what is foreground, seeds say which things there are, and the ground is high where one thing ends
(Meyer, 1994). Every pixel goes to the seed from which the water comes first; where two waters meet is the border.
"""

import heapq

import numpy as np
from numpy.typing import NDArray


def watershed(ground: NDArray[np.floating], seeds: NDArray[np.integer], inside: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Y X numbers: each pixel of `inside` that a seed reaches has its number; all others are 0.

    ground: height of each pixel. seeds: a number above 0 where water comes in. Of two waters that arrive at the same
    height, the one that set out earlier wins; so the result depends on nothing but the input.
    """
    height, width = ground.shape
    wide = width + 2  # a border of dry land, so that no neighbour has to be looked for beyond an edge
    numbers = np.zeros((height + 2, wide), dtype=np.int32)
    numbers[1:-1, 1:-1] = np.where(inside, seeds, 0)
    free = np.zeros((height + 2, wide), dtype=bool)
    free[1:-1, 1:-1] = inside & (numbers[1:-1, 1:-1] == 0)
    heights = np.zeros((height + 2, wide))
    heights[1:-1, 1:-1] = ground
    flat, open_, level = numbers.ravel(), free.ravel(), heights.ravel().tolist()
    steps = (-wide, -1, 1, wide)
    waiting: list[tuple[float, int, int, int]] = []  # height, order, place, number
    for place in _shore(numbers, free).tolist():
        for step in steps:
            if open_[place + step]:
                waiting.append((level[place + step], len(waiting), place + step, int(flat[place])))
    heapq.heapify(waiting)
    order = len(waiting)
    while waiting:
        reached, _, place, number = heapq.heappop(waiting)
        if not open_[place]:
            continue
        open_[place], flat[place] = False, number
        for step in steps:
            if open_[place + step]:
                heapq.heappush(waiting, (max(reached, level[place + step]), order, place + step, number))
                order += 1
    return numbers[1:-1, 1:-1].copy()


def _shore(numbers: NDArray[np.int32], free: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The flat places of numbered pixels beside free ones."""
    beside = np.zeros(numbers.shape, dtype=bool)
    beside[1:] |= free[:-1]
    beside[:-1] |= free[1:]
    beside[:, 1:] |= free[:, :-1]
    beside[:, :-1] |= free[:, 1:]
    return np.flatnonzero((numbers > 0) & beside)
