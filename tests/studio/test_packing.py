"""What arrives on the page is what the model had, bit for bit."""

import base64
import struct

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from clearformer.studio.packing import pack, pack_numbers, pack_shades


@given(st.lists(st.floats(width=32), min_size=1, max_size=20))
def test_every_float32_survives(numbers):
    packed = pack(torch.tensor(numbers))
    back = struct.unpack(f"<{len(numbers)}f", base64.b64decode(packed["f32"]))
    assert struct.pack(f"<{len(numbers)}f", *back) == struct.pack(f"<{len(numbers)}f", *numbers)


def test_rows_come_first_whatever_the_memory_layout():
    packed = pack(torch.arange(6.0).view(3, 2).mT)
    assert packed["shape"] == [2, 3]
    assert struct.unpack("<6f", base64.b64decode(packed["f32"])) == (0, 2, 4, 1, 3, 5)


def test_shades_go_from_0_to_255():
    packed = pack_shades(torch.tensor([[0.0, 0.5, 1.0, 7.0]]))
    assert packed["shape"] == [1, 4]
    assert list(base64.b64decode(packed["u8"])) == [0, 128, 255, 255]


def test_numbers_of_a_mask_are_two_bytes_each():
    packed = pack_numbers(np.array([[0, 1, 65_535]], dtype=np.uint16))
    assert packed["shape"] == [1, 3]
    assert struct.unpack("<3H", base64.b64decode(packed["u16"])) == (0, 1, 65_535)
