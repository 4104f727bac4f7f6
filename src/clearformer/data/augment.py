"""New pictures out of old ones, drawn anew at every reading: what a class does not depend on."""

import numpy as np

from clearformer.data.readers.pictures import Pixels


def move_picture(pixels: Pixels, random: np.random.Generator, *, shift: int, flip: bool) -> Pixels:
    """The same picture moved by some pixels, the edge repeated where nothing was, and perhaps mirrored."""
    down, right = random.integers(-shift, shift + 1, size=2)
    height, width = pixels.shape[:2]
    rows = np.clip(np.arange(height) - down, 0, height - 1)
    columns = np.clip(np.arange(width) - right, 0, width - 1)
    moved: Pixels = pixels[rows][:, columns]
    if flip and random.random() < 0.5:
        moved = moved[:, ::-1]
    return moved
