"""CTranslate2's `model.bin` (version 6): a list of named arrays, and of second names for the same array.

Some of the arrays are single numbers that say what the model is. Nothing in the file can run. Quantised weights
are converted back to float32.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clearformer.interop.binary import BinaryReader
from clearformer.interop.renaming import Shape

VERSION = 6
_TYPES = ("<f4", "<i1", "<i2", "<i4", "<f2", "bfloat16")  # the order is that of the format


@dataclass(frozen=True, kw_only=True)
class _Array:
    """Where an array is stored, and in which type."""

    shape: Shape
    type: str
    place: int
    bytes: int


class ModelFile:
    """model.bin: arrays by name, read when they are asked for. Single numbers are `facts`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._arrays: dict[str, _Array] = {}
        self.facts: dict[str, float | int] = {}
        self.same: dict[str, str] = {}  # second names, with the name that the array has
        with BinaryReader(path) as reader:
            version = reader.number("I", "its version")
            if version != VERSION:
                raise ValueError(f"{path} is of version {version}; only version {VERSION} of the format is read")
            self.kind = _text(reader, "its kind")
            self.revision = reader.number("I", "its revision")
            for _ in range(reader.count("I", "arrays", each=9)):
                self._take_array(reader)
            for _ in range(reader.count("I", "second names", each=6)):
                self._take_second_name(reader)
            if reader.left:
                raise ValueError(f"{path} has {reader.left:,} bytes after its end; download it again")

    @property
    def shapes(self) -> dict[str, Shape]:
        """Of every array under every name; the scales of quantised weights belong to the weights."""
        own = {name: array.shape for name, array in self._arrays.items() if not name.endswith("_scale")}
        return own | {second: own[first] for second, first in self.same.items() if first in own}

    def is_fraction(self, name: str) -> bool:
        """Whether a single number is stored as a float."""
        return isinstance(self.facts.get(name), float)

    def home(self, name: str) -> str:
        """The name under which an array is stored."""
        return self.same.get(name, name)

    def read(self, name: str) -> Tensor:
        """An array as float32: quantised weights are divided by their scale."""
        values = self._values(self.home(name))
        scale = f"{self.home(name)}_scale"
        if values.dtype.kind == "i":
            if scale not in self._arrays and scale not in self.facts:
                raise ValueError(f"{self.path}: {name} is quantised, but has no scale; download it again")
            by = np.float32(self.facts[scale]) if scale in self.facts else self._values(scale)
            values = values.astype(np.float32) / (by.reshape(-1, *[1] * (values.ndim - 1)) if np.ndim(by) else by)
        return torch.from_numpy(np.ascontiguousarray(values, dtype=np.float32))

    def _values(self, name: str) -> NDArray[Any]:
        array = self._arrays[name]
        stored = "<u2" if array.type == "bfloat16" else array.type
        values = np.fromfile(self.path, dtype=stored, count=math.prod(array.shape), offset=array.place)
        if array.type == "bfloat16":  # the upper half of a float32
            values = (values.astype(np.uint32) << 16).view(np.float32)
        return values.reshape(array.shape)

    def _take_array(self, reader: BinaryReader) -> None:
        name = _text(reader, "an array's name")
        rank = reader.number("B", f"the shape of {name}")
        if rank > 4:
            raise ValueError(f"{self.path}: {name} has {rank} dimensions, more than any weight; download it again")
        shape = tuple(reader.number("I", f"the shape of {name}") for _ in range(rank))
        kind = reader.number("B", f"the type of {name}")
        if kind >= len(_TYPES):
            raise ValueError(f"{self.path}: {name} is of the unknown type {kind}; download it again")
        length = reader.number("I", f"the length of {name}")
        type_ = _TYPES[kind]
        if math.prod(shape) * (2 if type_ == "bfloat16" else np.dtype(type_).itemsize) != length:
            raise ValueError(f"{self.path}: {name} has {length:,} bytes, which is not what its shape asks for")
        if name in self._arrays or name in self.facts:
            raise ValueError(f"{self.path} has {name} twice; download it again")
        if rank == 0:
            self.facts[name] = np.frombuffer(reader.raw(length, name), dtype=type_)[0].item()
        else:
            place = reader.skip(length, name)
            self._arrays[name] = _Array(shape=shape, type=type_, place=place, bytes=length)

    def _take_second_name(self, reader: BinaryReader) -> None:
        second, first = _text(reader, "a second name"), _text(reader, "a second name's first")
        known = first in self._arrays or first in self.facts
        if not known or second in self._arrays or second in self.same:
            raise ValueError(f"{self.path} calls {first} also {second}, but that does not fit; download it again")
        if first in self.facts:
            self.facts[second] = self.facts[first]
        else:
            self.same[second] = first


def _text(reader: BinaryReader, what: str) -> str:
    """A length, the characters, and a zero."""
    raw = reader.raw(reader.number("H", what), what)
    try:
        if not raw.endswith(b"\0"):
            raise ValueError
        return raw[:-1].decode("utf-8")
    except ValueError:
        raise ValueError(f"{reader.path}: {what} is not text; download it again") from None


class SplitArrays:
    """The arrays under dotted names, with joined queries, keys and values split.

    A key bias of zeros means that the model has none: joining the three biases filled it in.
    """

    def __init__(self, file: ModelFile) -> None:
        self.file = file
        self.shapes: dict[str, Shape] = {}
        self._parts: dict[str, tuple[str, int, int]] = {}
        for name, shape in file.shapes.items():
            letters = self._letters(name)
            if letters is None:
                self._parts[dotted(name)] = (name, 0, shape[0])
                self.shapes[dotted(name)] = shape
            else:
                self._cut(name, shape, letters)
        biases = [name for name in self.shapes if name.endswith("attention.k.bias")]
        silent = bool(biases) and all(not bool(self.read(name).any()) for name in biases)
        self.key_bias = False if silent else None
        for name in biases if silent else ():
            del self.shapes[name]

    def read(self, name: str) -> Tensor:
        whole, begins, ends = self._parts[name]
        return self.file.read(whole)[begins:ends]

    def head_dim(self, heads: int, dim: int) -> int | None:
        """The width of a head, where it is not the model's width divided by the heads."""
        width = self.file.shapes.get("encoder/layer_0/self_attention/linear_1/weight", (0, dim))[-1]
        return None if width == dim else width // heads

    def _letters(self, name: str) -> str | None:
        """What is joined in this array: all three in self-attention, keys and values in cross-attention."""
        path, _, last = name.rpartition("/")
        if last not in ("weight", "bias"):
            return None
        joined = {"self_attention/linear_0": "qkv", "attention/linear_1": "kv"}
        return next(
            (
                letters
                for end, letters in joined.items()
                if path.endswith(f"/{end}") and (end != "attention/linear_1" or "/self_attention/" not in name)
            ),
            None,
        )

    def _cut(self, name: str, shape: Shape, letters: str) -> None:
        path, _, last = name.rpartition("/")
        attention = path.rpartition("/")[0]
        out = "linear_1" if letters == "qkv" else "linear_2"
        # Keys and values may be narrower than queries, which are as wide as what the output projection takes in.
        queries = (self.file.shapes.get(f"{attention}/{out}/weight") or (0, 0))[-1] if letters == "qkv" else 0
        each, odd = divmod(shape[0] - queries, 2)
        if each <= 0 or odd:
            raise ValueError(f"{self.file.path}: {name} has {shape[0]} rows, which are not queries, keys and values")
        begins = 0
        for letter in letters:
            length = queries if letter == "q" else each
            part = f"{dotted(attention)}.{letter}.{last}"
            self._parts[part] = (name, begins, begins + length)
            self.shapes[part] = (length, *shape[1:])
            begins += length


def dotted(name: str) -> str:
    """layer_3/ffn/layer_norm/gamma is layer.3.ffn.layer_norm.weight."""
    words = [
        f"layer.{word[6:]}" if word.startswith("layer_") and word[6:].isdigit() else word for word in name.split("/")
    ]
    return ".".join([*words[:-1], {"gamma": "weight", "beta": "bias"}.get(words[-1], words[-1])])
