"""A book of patches: few patches stand in it as they are, many by centres that are better than a random choice."""

import numpy as np

from clearformer.data.patch_clusters import cluster_patches


def test_few_different_patches_are_kept_as_they_are():
    patches = np.array([[1, 2], [3, 4], [1, 2], [9, 9]], dtype=np.uint8)
    assert cluster_patches(patches, 5).tolist() == [[1, 2], [3, 4], [9, 9]]


def test_crowds_are_found():
    draw = np.random.default_rng(1)
    middles = np.array([[20, 20], [200, 30], [120, 220]])
    patches = (middles[draw.integers(3, size=900)] + draw.integers(-8, 9, (900, 2))).astype(np.uint8)
    found = cluster_patches(patches, 3)
    order = np.argsort(found[:, 1])
    assert np.abs(found[order] - middles).max() < 4


def test_centres_serve_better_than_patches_drawn_at_random():
    patches = np.random.default_rng(1).integers(0, 256, (2000, 4), dtype=np.uint8)

    def lost(book):
        return ((patches[:, None].astype(np.float32) - book) ** 2).sum(axis=-1).min(axis=1).mean()

    book = cluster_patches(patches, 32)
    assert book.shape == (32, 4)
    assert lost(book) < 0.85 * lost(patches[:32].astype(np.float32))
    assert np.array_equal(book, cluster_patches(patches, 32))  # the same each time
