"""A book of patches: the centres around which the patches of many pictures lie (k-means; Lloyd, 1982)."""

import numpy as np
from numpy.typing import NDArray

ROUNDS = 12
MOST_PATCHES = 120_000  # that are looked at; more change little


def cluster_patches(patches: NDArray[np.uint8], count: int, *, seed: int = 1) -> NDArray[np.float32]:
    """`count` centres, or fewer where there are fewer different patches. patches: N P; returns V P.

    A centre that nothing is near to moves to the patch that is worst served.
    """
    draw = np.random.default_rng(seed)
    chosen = draw.choice(len(patches), min(MOST_PATCHES, len(patches)), replace=False)
    different, weights = np.unique(patches[np.sort(chosen)], axis=0, return_counts=True)
    points = different.astype(np.float32)
    # An empty patch is most of many pictures, and one centre is enough for it: count each different patch by its root.
    shares = np.sqrt(weights).astype(np.float32)
    if len(points) <= count:
        return points
    centres = points[np.sort(draw.choice(len(points), count, replace=False, p=shares / shares.sum()))]
    for _ in range(ROUNDS):
        nearest, distance = _nearest(points, centres)
        total = np.zeros_like(centres)
        np.add.at(total, nearest, points * shares[:, None])
        held = np.bincount(nearest, weights=shares, minlength=count).astype(np.float32)
        empty = np.flatnonzero(held == 0)
        centres = (total / np.maximum(held, 1e-9)[:, None]).astype(np.float32)
        centres[empty] = points[np.argsort(-distance * shares, kind="stable")[: len(empty)]]
    return centres


def _nearest(
    points: NDArray[np.float32], centres: NDArray[np.float32]
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The nearest centre of each point, and its squared distance."""
    half = (centres**2).sum(axis=1) / 2
    nearest = np.empty(len(points), dtype=np.int64)
    best = np.empty(len(points), dtype=np.float32)
    for start in range(0, len(points), 4096):
        part = points[start : start + 4096]
        score = part @ centres.T - half
        nearest[start : start + 4096] = score.argmax(axis=1)
        best[start : start + 4096] = (part**2).sum(axis=1) - 2 * score.max(axis=1)
    return nearest, best
