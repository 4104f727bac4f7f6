"""Weights rounded to eight or four bits on disk: a quarter of the size, or less, and in use what they stand for.

The matrices of the layers are whole numbers with scales (`model/rounded.py` says what they mean); all else (tables,
norms, biases) is float16, since it is little and rounding it costs most. A matrix that four bits do not suit has eight.
"""

from collections.abc import Mapping
from typing import Literal

import torch
from torch import Tensor

from clearformer.model.from_weights import Stored, plain
from clearformer.model.rounded import GROUP, Int4Weight, Int8Weight, Rounded, fits_four, to_eight, to_four

Kept = Literal["float32", "bfloat16", "float16", "int8", "int4"]  # how a file keeps a model's matrices
SCALE, MIDDLE = ".scale", ".middle"  # behind the name of a rounded weight


def to_rounded(weights: Mapping[str, Tensor], bits: int) -> dict[str, Tensor]:
    """Every matrix of a layer as whole numbers and scales. All else as it is."""
    small: dict[str, Tensor] = {}
    for name, weight in weights.items():
        if weight.dim() == 2 and ".layers." in name and weight.is_floating_point():
            wide = weight.float()
            small |= _written(name, to_four(wide) if bits == 4 and fits_four(weight.shape) else to_eight(wide))
        else:
            small[name] = weight
    if bits == 8 and not any(weight.dtype == torch.int8 for weight in small.values()):
        raise ValueError("this model has no matrices in layers, so there is nothing to round to eight bits")
    if bits == 4 and not any(weight.dtype == torch.uint8 for weight in small.values()):
        raise ValueError(
            "this model has no matrices in layers whose rows divide into groups of 32, so there is nothing to round to "
            "four bits; round it to eight"
        )
    return small


def _written(name: str, weight: Rounded) -> dict[str, Tensor]:
    if isinstance(weight, Int8Weight):
        return {name: weight.values, name + SCALE: weight.scale}
    return {name: weight.pairs, name + SCALE: weight.scale, name + MIDDLE: weight.middle}


def from_rounded(read: Mapping[str, Tensor]) -> dict[str, Stored]:
    """The weights of a file by name; those that were rounded as they are."""
    found: dict[str, Stored] = dict(read)
    for name, weight in read.items():
        if weight.dtype == torch.int8:
            found[name] = Int8Weight(weight, _part(read, name, SCALE, weight.shape[:1], "eight"))
            del found[name + SCALE]
        elif weight.dtype == torch.uint8:
            shape = torch.Size((*weight.shape[:1], 2 * weight.shape[-1])) if weight.dim() == 2 else weight.shape
            if not fits_four(shape):
                raise ValueError(f"{name} is in four bits, and not a matrix of whole groups; get the folder anew")
            groups = (shape[0], shape[1] // GROUP)
            scale, middle = (_part(read, name, part, groups, "four") for part in (SCALE, MIDDLE))
            found[name] = Int4Weight(weight, scale, middle)
            del found[name + SCALE], found[name + MIDDLE]
    return found


def kept_as(weights: Mapping[str, Stored]) -> Kept:
    """In which type the matrices of a file are kept."""
    kinds = {weight.dtype for weight in weights.values() if isinstance(weight, Tensor)}
    if any(isinstance(weight, Int4Weight) for weight in weights.values()):
        return "int4"
    if any(isinstance(weight, Int8Weight) for weight in weights.values()):
        return "int8"
    return "bfloat16" if torch.bfloat16 in kinds else "float16" if torch.float16 in kinds else "float32"


def plain_weights(weights: Mapping[str, Stored]) -> dict[str, Tensor]:
    """What they stand for: rounded and short ones in float32."""
    return {name: plain(weight) for name, weight in weights.items()}


def _part(read: Mapping[str, Tensor], name: str, part: str, shape: tuple[int, ...], bits: str) -> Tensor:
    found = read.get(name + part)
    if found is None or read[name].dim() != 2 or tuple(found.shape) != tuple(shape) or not bool(found.isfinite().all()):
        raise ValueError(f"{name} is in {bits} bits, and its scales are missing or do not fit; get the folder anew")
    return found
