"""Bright discs on dark ground, each an instance of its own, as pictures beside masks."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image


def disc(shape: tuple[int, int], y: float, x: float, radius: float) -> NDArray[np.bool_]:
    """All pixels within a distance."""
    rows, columns = np.ogrid[: shape[0], : shape[1]]
    return (rows - y) ** 2 + (columns - x) ** 2 <= radius**2


def discs(seed: int, *, height: int = 24, width: int = 24, count: int = 3) -> tuple[NDArray, NDArray]:
    """Pixels Y X 1 and mask Y X; the later disc lies above."""
    random = np.random.default_rng(seed)
    mask = np.zeros((height, width), dtype=np.uint16)
    pixels = random.integers(10, 50, size=(height, width)).astype(np.uint8)
    for number in range(1, count + 1):
        inside = disc(
            (height, width), random.uniform(3, height - 4), random.uniform(3, width - 4), random.uniform(3, 5)
        )
        mask[inside] = number
        pixels[inside] = random.integers(150, 250)
    return pixels[..., None], mask


def write_pairs(folder: Path, count: int, **options: int) -> Path:
    """`images` and `masks` with files of the same name; every picture another number of discs."""
    for name in ("images", "masks"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for number in range(count):
        pixels, mask = discs(number, **({"count": 1 + number % 4} | options))
        Image.fromarray(pixels[..., 0]).save(folder / "images" / f"{number:02}.png")
        Image.fromarray(mask.astype(np.uint8)).save(folder / "masks" / f"{number:02}.png")
    return folder
