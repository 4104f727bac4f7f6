"""Pictures as rows of codes: each patch is the number of the most similar one in a small book of patches.

What a vocabulary is to a text, the book is to a picture. It is written beside the weights as plain numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from clearformer.foundation import storage
from clearformer.foundation.storage import DamagedError

BOOK = "patch_codes.safetensors"
NAME = "book"
Order = Literal["hidden-places", "left-to-right"]
MOST_CODES = 1 << 16
AT_A_TIME = 4096  # patches that are compared at a time


@dataclass(frozen=True, kw_only=True, eq=False)
class PatchCodes:
    """book: V P, a patch per row, its bytes as numbers from 0 to 255 (rows, columns, channels).

    patch: pixels on each side. order: in which order a model writes the codes.
    """

    book: NDArray[np.float32] = field(repr=False)
    patch: int
    order: Order

    def __post_init__(self) -> None:
        if self.patch < 1 or self.book.ndim != 2 or self.book.shape[1] % self.patch**2:
            raise ValueError(f"a book of patches of {self.patch} × {self.patch} cannot have shape {self.book.shape}")
        if not 1 <= len(self.book) <= MOST_CODES or not np.isfinite(self.book).all():
            raise ValueError(f"a book has 1 to {MOST_CODES:,} patches of finite numbers, not {len(self.book)}")

    def __len__(self) -> int:
        return len(self.book)

    @property
    def channels(self) -> int:
        return int(self.book.shape[1] // self.patch**2)

    def encode(self, pictures: NDArray[np.uint8]) -> NDArray[np.int64]:
        """The nearest patch of the book for each patch, row by row. pictures: N Y X C -> N T."""
        rows = cut(pictures, self.patch)
        flat = rows.reshape(-1, rows.shape[-1]).astype(np.float32)
        half = (self.book**2).sum(axis=1) / 2
        found = [
            np.argmax(flat[start : start + AT_A_TIME] @ self.book.T - half, axis=1)
            for start in range(0, len(flat), AT_A_TIME)
        ]
        return np.concatenate(found).reshape(rows.shape[:2])

    def decode(self, codes: NDArray[np.int64]) -> NDArray[np.uint8]:
        """The patches of the book, side by side. codes: N T, T a square -> N Y X C."""
        count, places = codes.shape
        side = round(places**0.5)
        if side * side != places or codes.min() < 0 or codes.max() >= len(self):
            raise ValueError(
                f"codes are rows of a square number of places with 0 to {len(self) - 1}, not {codes.shape}"
            )
        patches = self.book[codes].round().clip(0, 255).astype(np.uint8)
        shaped = patches.reshape(count, side, side, self.patch, self.patch, self.channels).transpose(0, 1, 3, 2, 4, 5)
        return shaped.reshape(count, side * self.patch, side * self.patch, self.channels)

    def facts(self) -> dict[str, Any]:
        """As config.json has it."""
        return {"patch": self.patch, "count": len(self), "order": self.order}

    def save(self, folder: Path) -> None:
        """Write the book beside config.json."""
        from safetensors.numpy import save_file

        with storage.naming(folder / BOOK):
            save_file({NAME: np.ascontiguousarray(self.book, dtype=np.float32)}, folder / BOOK)

    @classmethod
    def load(cls, folder: Path, facts: Mapping[str, Any]) -> Self:
        """The inverse of `facts` and `save`."""
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        path = folder / BOOK
        try:
            read = load_file(path)
            if facts["order"] not in get_args(Order) or len(read[NAME]) != facts["count"]:
                raise ValueError("it is not the book that config.json describes")
            return cls(book=read[NAME].astype(np.float32), patch=int(facts["patch"]), order=facts["order"])
        except FileNotFoundError:
            raise DamagedError(f"{path} is missing, but config.json names it; get the folder anew") from None
        except (SafetensorError, KeyError, TypeError, ValueError) as error:
            raise DamagedError(f"{path} cannot be read: {error}; get the folder anew") from error


def cut(pictures: NDArray[np.uint8], patch: int) -> NDArray[np.uint8]:
    """Squares in rows. N Y X C -> N (Y/patch · X/patch) (patch · patch · C)."""
    count, height, width, channels = pictures.shape
    if height % patch or width % patch:
        raise ValueError(f"pictures of {height} × {width} do not divide into patches of {patch} × {patch}")
    shaped = pictures.reshape(count, height // patch, patch, width // patch, patch, channels)
    return shaped.transpose(0, 1, 3, 2, 4, 5).reshape(count, -1, patch * patch * channels)
