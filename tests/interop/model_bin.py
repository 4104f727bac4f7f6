"""model.bin of CTranslate2, byte by byte, each part of which can be made to lie."""

import struct


def text(word: str) -> bytes:
    return struct.pack("<H", len(word) + 1) + word.encode() + b"\0"


def array(name: str, shape: tuple[int, ...], content: bytes, kind: int = 0, length: int | None = None) -> bytes:
    dims = b"".join(struct.pack("<I", size) for size in shape)
    size = len(content) if length is None else length
    return text(name) + bytes([len(shape)]) + dims + bytes([kind]) + struct.pack("<I", size) + content


def model_bin(
    *arrays: bytes, version: int = 6, kind: str = "TransformerSpec", count: int | None = None, tail=None
) -> bytes:
    """A file of the format, each part of which can be made to lie."""
    head = struct.pack("<I", version) + text(kind) + struct.pack("<I", 7)
    number = struct.pack("<I", len(arrays) if count is None else count)
    return head + number + b"".join(arrays) + (struct.pack("<I", 0) if tail is None else tail)
