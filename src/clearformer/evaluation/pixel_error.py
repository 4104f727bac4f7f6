"""How far pictures are from their originals, per pixel, and the best that a linear code of the same length can do."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

Z = 1.959964  # of a normal distribution: 95 %


def score_pixels(errors: Sequence[float]) -> dict[str, float | str]:
    """The mean of squared errors, one per picture, with its interval, and as a signal-to-noise ratio in decibels."""
    if not len(errors):
        raise ValueError("there are no pictures to compare; give at least one")
    mean = float(np.mean(errors))
    spread = Z * float(np.std(errors)) / len(errors) ** 0.5
    ratio = -10 * np.log10(max(mean, 1e-12))
    return {
        "mse": mean, "mse_low": mean - spread, "mse_high": mean + spread, "psnr": float(ratio),
        "examples": float(len(errors)), "signature": "squared error per pixel, 0 to 1; 95 % interval of the mean",
    }  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Principal:
    """The directions along which pictures differ most: a code of so many numbers, the best that is linear.

    mean: P pixels; directions: K P, orthogonal, of length one.
    """

    mean: NDArray[np.float64]
    directions: NDArray[np.float64]

    @classmethod
    def of(cls, table: NDArray[np.float32], count: int) -> Self:
        """Learn `count` directions. table: N P, a picture per row, numbers from 0 to 1."""
        mean = table.mean(axis=0, dtype=np.float64)
        centred = table - mean
        # The directions of the pictures are those of their covariance, which is small however many pictures there are.
        _, directions = np.linalg.eigh(centred.T @ centred / len(table))
        return cls(mean=mean, directions=directions.T[::-1][:count])

    def errors(self, table: NDArray[np.float32]) -> list[float]:
        """The squared error per pixel of each picture after the way to the code and back."""
        centred = table - self.mean
        back = centred @ self.directions.T @ self.directions + self.mean
        errors: list[float] = ((back.clip(0, 1) - table) ** 2).mean(axis=1).tolist()
        return errors
