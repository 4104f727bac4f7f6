"""Pictures as PNG files: one by one, and many side by side on one sheet."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from clearformer.data.readers.pictures import PictureError, Pixels

GAP = 2  # pixels between two pictures of a sheet
PAPER = 128  # the grey between them, which is neither ink nor paper of most pictures


def refuse_without_pillow() -> None:
    """Say that pictures cannot be written here, before anybody waits for them."""
    if find_spec("PIL") is None:
        raise PictureError("writing picture files needs pillow: pip install 'clearformer[pictures]'")


def write_png(path: Path, pixels: Pixels) -> None:
    """One picture, height by width by channels, whole or not at all."""
    refuse_without_pillow()
    from PIL import Image

    aside = path.with_name(f".{path.name}.writing")
    try:
        Image.fromarray(pixels[..., 0] if pixels.shape[2] == 1 else pixels).save(aside, format="PNG")
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def sheet(pictures: Sequence[Pixels], columns: int, *, scale: int = 1) -> Pixels:
    """Pictures of one size, row by row. scale: how many pixels each of theirs becomes."""
    if not pictures or columns < 1:
        raise ValueError(f"a sheet needs a picture and a column, not {len(pictures)} and {columns}")
    height, width, channels = pictures[0].shape
    rows = -(-len(pictures) // columns)
    down, right = height * scale + GAP, width * scale + GAP
    paper = np.full((rows * down + GAP, columns * right + GAP, channels), PAPER, dtype=np.uint8)
    for number, picture in enumerate(pictures):
        top, left = number // columns * down + GAP, number % columns * right + GAP
        large = picture.repeat(scale, axis=0).repeat(scale, axis=1)
        paper[top : top + height * scale, left : left + width * scale] = large
    return paper
