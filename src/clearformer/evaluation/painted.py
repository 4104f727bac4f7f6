"""How near painted pictures are to real ones: a distance between crowds, and the nearest picture of each."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

AT_A_TIME = 256


class Nearest(NamedTuple):
    """For each picture its nearest neighbour: which one, and the root of the mean squared difference of a pixel."""

    places: NDArray[np.int64]
    distances: NDArray[np.float64]


def frechet_distance(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Between two normal distributions with the means and covariances of these features (Heusel et al., 2017).

    one, other: a picture per row, the same features of each. The more alike the crowds, the nearer to zero.
    """
    if min(len(one), len(other)) < 2 or one.shape[1] != other.shape[1]:
        raise ValueError(f"two crowds of at least two pictures are compared, not {one.shape} and {other.shape}")
    means = one.mean(axis=0) - other.mean(axis=0)
    first, second = (np.atleast_2d(np.cov(crowd, rowvar=False)) for crowd in (one, other))
    # The trace of the root of first·second, which has the same eigenvalues as a symmetric matrix.
    values, vectors = np.linalg.eigh(first)
    root = (vectors * np.sqrt(values.clip(min=0))) @ vectors.T
    both = np.sqrt(np.linalg.eigvalsh(root @ second @ root).clip(min=0)).sum()
    return float(max(0.0, means @ means + np.trace(first) + np.trace(second) - 2 * both))


def nearest(pictures: NDArray[np.float32], among: NDArray[np.float32]) -> Nearest:
    """The nearest of `among` for each picture. Both: a picture per row, numbers from 0 to 1."""
    if not len(among) or pictures.shape[1:] != among.shape[1:]:
        raise ValueError(f"pictures of {pictures.shape[1:]} cannot be looked for among {among.shape}")
    squares = (among.astype(np.float64) ** 2).sum(axis=1) / 2
    places = [
        np.argmax(pictures[start : start + AT_A_TIME] @ among.T - squares, axis=1)
        for start in range(0, len(pictures), AT_A_TIME)
    ]
    found = np.concatenate(places)
    exact = np.sqrt(((pictures.astype(np.float64) - among[found]) ** 2).mean(axis=1))
    return Nearest(found, exact)
