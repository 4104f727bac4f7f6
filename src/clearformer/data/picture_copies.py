"""Pictures that are the same, or nearly: saved again, in another size, a little lighter. A score over them is memory.

Two small prints of each picture are compared: which of 64 places is lighter than the one beside it (a difference
hash), and, where that is nearly equal, 16 × 16 mean colours.
"""

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clearformer.data.readers.pictures import Pixels

SIDE = 16  # mean colours along each side of a print
BITS = 6  # of 64: a picture that was saved again differs in fewer
ALIKE = 0.99  # correlation of the colours of two prints of one picture, saved in different ways
PLAIN = 2.0  # of 255: a picture whose print varies less is of one colour, and like every other one
BLOCK = 1024  # rows that are compared with all others at a time


@dataclass(frozen=True, kw_only=True)
class Print:
    """What is remembered of a picture. exact: of all its pixels; bits: 64 comparisons; colours: 16 16 3."""

    exact: bytes
    bits: np.uint64
    colours: NDArray[np.uint8]

    @property
    def plain(self) -> bool:
        """Whether it is of one colour."""
        return float(self.colours.std(axis=(0, 1)).max()) < PLAIN


def take_print(pixels: Pixels) -> Print:
    """A few hundred bytes that stand for a picture."""
    from PIL import Image

    image = Image.fromarray(pixels[..., 0] if pixels.shape[2] == 1 else pixels)
    colours = np.asarray(image.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BOX))
    grey = np.asarray(image.convert("L").resize((9, 8), Image.Resampling.BOX)).astype(np.int16)
    bits = np.packbits(grey[:, 1:] > grey[:, :-1]).view(np.uint64)[0]
    content = hashlib.blake2b(np.ascontiguousarray(pixels).tobytes(), digest_size=16)
    content.update(str(pixels.shape).encode())
    return Print(exact=content.digest(), bits=bits, colours=colours)


def exact_copies(prints: list[Print]) -> list[int]:
    """For each picture the first one with the same pixels: its own number, where there is none before it."""
    first: dict[bytes, int] = {}
    return [first.setdefault(one.exact, number) for number, one in enumerate(prints)]


def near_picture_copies(prints: list[Print]) -> list[int]:
    """For each picture the first one that is nearly the same, or is; pictures of one colour are like no other."""
    origin = exact_copies(prints)
    first = [number for number, before in enumerate(origin) if before == number and not prints[number].plain]
    bits = np.array([prints[number].bits for number in first], dtype=np.uint64)
    for start in range(0, len(first), BLOCK):
        some = bits[start : start + BLOCK]
        close = np.bitwise_count(some[:, None] ^ bits[None, : start + len(some)]) <= BITS
        for later, earlier in zip(*np.nonzero(close), strict=True):
            one, other = first[start + int(later)], first[int(earlier)]
            if other < one and origin[one] == one and _alike(prints[one], prints[other]):
                origin[one] = origin[other]
    return [origin[before] for before in origin]  # a copy of a near copy


def _alike(one: Print, other: Print) -> bool:
    first, second = (part.colours - part.colours.mean(axis=(0, 1)) for part in (one, other))
    return float((first * second).sum()) > ALIKE * float(np.linalg.norm(first) * np.linalg.norm(second))
