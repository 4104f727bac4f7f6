"""What a network should say of every pixel of a crop, and crops as a batch.

B batch, C channels, Y X height and width.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clearformer.data.collate import UNTAGGED, Batch
from clearformer.data.mask_crops import OUTSIDE, Crop


@dataclass(frozen=True, kw_only=True)
class InstanceBatch(Batch):
    """Pictures with instances: what is foreground, what is the rim of an instance, and where its centre lies."""

    pictures: Tensor  # B C Y X
    foreground: Tensor  # B Y X, boolean
    rim: Tensor  # B Y X, boolean
    offsets: Tensor  # B 2 Y X: down and right to the centre of the pixel's instance, in units; 0 elsewhere
    keep: Tensor  # B Y X: the pixels of the picture itself


@dataclass(frozen=True, kw_only=True)
class ClassMaskBatch(Batch):
    """Pictures with a class for each pixel; UNTAGGED where none is asked for."""

    pictures: Tensor  # B C Y X
    classes: Tensor  # B Y X


def rim_of(numbers: NDArray[np.int32]) -> NDArray[np.bool_]:
    """The outermost pixels of every instance: one of the four neighbours is not of it. A crop's edge is no rim."""
    rim = np.zeros(numbers.shape, dtype=bool)
    for axis in (0, 1):
        differ = np.diff(numbers, axis=axis) != 0
        differ &= (np.delete(numbers, 0, axis) != OUTSIDE) & (np.delete(numbers, -1, axis) != OUTSIDE)
        first, second = (slice(None, -1), slice(1, None))
        for part in (first, second):
            place = (part, slice(None)) if axis == 0 else (slice(None), part)
            rim[place] |= differ
    return rim & (numbers > 0)


def offsets_of(crop: Crop, unit: float) -> NDArray[np.float32]:
    """How far down and right the centre of each pixel's instance lies, in units of so many pixels: 2 Y X."""
    offsets = np.zeros((2, *crop.numbers.shape), dtype=np.float32)
    y, x = np.nonzero(crop.numbers > 0)
    if len(y):
        centres = crop.centres[crop.numbers[y, x] - 1]
        offsets[:, y, x] = (centres.T - np.stack((y, x))) / unit
    return offsets


def instance_batch(crops: Sequence[Crop], pictures: Tensor, unit: float) -> InstanceBatch:
    """Crops of pictures with instances. pictures: as the network reads them."""
    numbers = np.stack([crop.numbers for crop in crops])
    return InstanceBatch(
        pictures=pictures,
        foreground=torch.from_numpy(numbers > 0),
        rim=torch.from_numpy(np.stack([rim_of(crop.numbers) for crop in crops])),
        offsets=torch.from_numpy(np.stack([offsets_of(crop, unit) for crop in crops])),
        keep=torch.from_numpy(numbers != OUTSIDE),
    )


def class_batch(crops: Sequence[Crop], pictures: Tensor, void: int | None = None) -> ClassMaskBatch:
    """Crops whose numbers are classes. void: the number that stands for none."""
    numbers = np.stack([crop.numbers for crop in crops]).astype(np.int64)
    numbers[(numbers == OUTSIDE) | (numbers == void)] = UNTAGGED
    return ClassMaskBatch(pictures=pictures, classes=torch.from_numpy(numbers))
