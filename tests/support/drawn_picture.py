"""A picture with smooth and with rough parts, in every mode that a file may have."""

import numpy as np
from PIL import Image


def drawn_picture(mode: str) -> Image.Image:
    """40 rows of 56 pixels."""
    values = np.add.outer(np.arange(40), np.arange(56)) * 2 + np.random.default_rng(1).integers(0, 60, (40, 56))
    grey = Image.fromarray(values.astype(np.uint8))
    if mode == "I;16":
        return Image.fromarray((values * 200).astype(np.uint16))
    return Image.merge("RGB", (grey, grey.rotate(90, expand=False), grey)).convert(mode)
