"""Weights rounded to eight bits on disk: a quarter of the size, and in memory what they stand for.

The matrices of the layers are whole numbers with a scale for each row; all else (tables, norms, biases) is float16,
since it is little and rounding it costs most. The rounded weights are used as they are by `model/fast/int8.py`, and by
everything else as the plain numbers that they stand for.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from clearformer.model.fast.int8 import restored, rounded

SCALE = ".scale"  # behind the name of a rounded weight


def to_eight_bits(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Every matrix of a layer as whole numbers and scales. All else as it is."""
    small: dict[str, Tensor] = {}
    for name, weight in weights.items():
        if weight.dim() == 2 and ".layers." in name and weight.is_floating_point():
            small[name], small[name + SCALE] = rounded(weight)
        else:
            small[name] = weight
    if not any(weight.dtype == torch.int8 for weight in small.values()):
        raise ValueError("this model has no matrices in layers, so there is nothing to round to eight bits")
    return small


def from_eight_bits(read: Mapping[str, Tensor]) -> tuple[dict[str, Tensor], bool]:
    """Plain weights, and whether any of them was rounded."""
    names = [name for name, weight in read.items() if weight.dtype == torch.int8]
    for name in names:
        scale = read.get(name + SCALE)
        if scale is None or scale.shape != read[name].shape[:1] or not bool(scale.isfinite().all()):
            raise ValueError(f"{name} is in eight bits, and its scales are missing or do not fit; get the folder anew")
    scales = {name + SCALE for name in names}
    plain = {name: weight for name, weight in read.items() if name not in scales}
    return plain | {name: restored(read[name], read[name + SCALE]) for name in names}, bool(names)
