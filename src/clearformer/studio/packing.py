"""Tensors for the pages: exact float32 bits as base64, with their shape.

Decimal text would be three times as long, and rounding it would make the page's numbers other numbers than the model's.
"""

import base64
from typing import TypedDict

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


class Packed(TypedDict):
    """shape: sizes; f32 or u8: little-endian values in row-major order, base64."""

    shape: list[int]
    f32: str


class PackedBytes(TypedDict):
    """The same for small whole numbers."""

    shape: list[int]
    u8: str


class PackedNumbers(TypedDict):
    """The same for whole numbers up to 65,535."""

    shape: list[int]
    u16: str


def pack(values: Tensor) -> Packed:
    """Any tensor of numbers as float32."""
    plain = values.detach().to("cpu", torch.float32).contiguous()
    return {"shape": list(plain.shape), "f32": base64.b64encode(plain.numpy().astype("<f4").tobytes()).decode()}


def pack_shades(weights: Tensor) -> PackedBytes:
    """Probabilities as 256 shades: enough for a thumbnail."""
    shades = (weights.detach().clamp(0, 1) * 255).round().to(torch.uint8).contiguous()
    return {"shape": list(shades.shape), "u8": base64.b64encode(shades.numpy().tobytes()).decode()}


def pack_bytes(values: Tensor) -> PackedBytes:
    """Bytes as they are, such as a picture's."""
    plain = values.to(torch.uint8).contiguous()
    return {"shape": list(plain.shape), "u8": base64.b64encode(plain.numpy().tobytes()).decode()}


def pack_numbers(values: NDArray[np.uint16]) -> PackedNumbers:
    """Whole numbers as they are, such as those of a mask."""
    return {"shape": list(values.shape), "u16": base64.b64encode(values.astype("<u2").tobytes()).decode()}
