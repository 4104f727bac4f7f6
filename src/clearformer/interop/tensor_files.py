"""Files of weights, opened without running code from them: safetensors, whole or in shards, and NumPy's npz.

Names and shapes are known before a number is read, so a file that does not fit costs no memory. Pickled files (.bin,
.pt) are never opened in this process: `torch_files` converts them first.
"""

import math
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from clearformer.folder.rounded_weights import Kept
from clearformer.interop.foreign_files import first_line, read_json, size_of
from clearformer.interop.other_formats import refusal
from clearformer.interop.renaming import Shape, Store

WHOLE, INDEX, ARRAYS = "model.safetensors", "model.safetensors.index.json", "weights.npz"
PICKLED = ("pytorch_model.bin", "pytorch_model.bin.index.json", "model.pt")

_KEPT: dict[str, Kept] = {"BF16": "bfloat16", "F16": "float16"}

# Trained numbers hardly compress: a file that decompresses to more than this many times its size holds something else.
_UNFOLDS = 2
_SLACK = 1 << 20  # of small biases and headers


@contextmanager
def open_weights(folder: Path) -> Iterator[Store]:
    """The weights of a folder, in any of the supported formats.

    A pickle is converted by a separate process that can do nothing else; the result is deleted when the block ends.
    """
    if _has_plain_weights(folder):
        yield _open(folder)
        return
    pickled = next((folder / name for name in PICKLED if (folder / name).is_file()), None)
    if pickled is None:
        if (why := refusal(folder)) is not None:
            raise ValueError(why)
        raise ValueError(f"{folder} has no weights: neither {WHOLE}, nor {INDEX}, nor {ARRAYS}")
    from clearformer.interop import torch_files as legacy

    with tempfile.TemporaryDirectory(prefix="clearformer-") as aside:
        converted = Path(aside) / WHOLE
        legacy.convert(pickled, converted)
        yield Safetensors({WHOLE: converted})


def _has_plain_weights(folder: Path) -> bool:
    return any((folder / name).is_file() for name in (WHOLE, INDEX, ARRAYS))


def _open(folder: Path) -> Store:
    if (folder / WHOLE).is_file():
        return Safetensors({WHOLE: folder / WHOLE})
    if (folder / INDEX).is_file():
        return _shards(folder)
    return Arrays(folder / ARRAYS)


class Safetensors:
    """One or several safetensors files as one store."""

    def __init__(self, files: Mapping[str, Path]) -> None:
        self._files: dict[str, Any] = {}
        self._home: dict[str, str] = {}
        self.shapes: dict[str, Shape] = {}
        self._numbers: Counter[str] = Counter()  # of each type
        for label, path in files.items():
            size_of(path)
            try:
                opened: Any = safe_open(path, framework="pt")
                slices = {name: opened.get_slice(name) for name in opened.keys()}  # noqa: SIM118
                found = {name: tuple(one.get_shape()) for name, one in slices.items()}
            except (SafetensorError, OSError, ValueError) as error:
                raise ValueError(
                    f"{path} is not a whole safetensors file ({first_line(error)}); download it again"
                ) from None
            twice = self.shapes.keys() & found.keys()
            if twice:
                raise ValueError(f"{path} has {min(twice)} a second time; the shards do not belong together")
            self._files[label] = opened
            self.shapes |= found
            self._home |= dict.fromkeys(found, label)
            for name, one in slices.items():
                self._numbers[one.get_dtype()] += math.prod(found[name])

    @property
    def kept(self) -> Kept:
        """The type of most of the numbers, if it is one that a model folder keeps."""
        return _KEPT.get(max(self._numbers, key=lambda name: self._numbers[name], default=""), "float32")

    def read(self, name: str) -> Tensor:
        tensor: Tensor = self._files[self._home[name]].get_tensor(name)
        return tensor

    def names_in(self, label: str) -> set[str]:
        """The tensors of one of the files."""
        return {name for name, home in self._home.items() if home == label}


class Arrays:
    """A NumPy archive without objects. Headers are read first; an array that asks for unpickling is refused."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.shapes: dict[str, Shape] = {}
        size = size_of(path)
        try:
            with zipfile.ZipFile(path) as archive:
                members = archive.infolist()
                total = sum(member.file_size for member in members)
                if total > _UNFOLDS * size + _SLACK:
                    raise ValueError(f"decompresses to {total:,} bytes, which weights never do")
                for member in members:
                    self.shapes[member.filename.removesuffix(".npy")] = _header(archive, member)
        except (zipfile.BadZipFile, ValueError, OSError, EOFError) as error:
            raise ValueError(f"{path} cannot be read: {first_line(error)}; download it again") from None

    def read(self, name: str) -> Tensor:
        try:
            with np.load(self._path, allow_pickle=False) as arrays:
                array = arrays[name]
        except (zipfile.BadZipFile, ValueError, OSError, EOFError) as error:
            raise ValueError(f"{self._path}: {name} cannot be read ({first_line(error)}); download it again") from None
        return torch.from_numpy(np.asarray(array, order="C"))


class Renamed:
    """A store under other names: for old spellings, and for prefixes that some files leave out."""

    def __init__(self, store: Store, names: Mapping[str, str]) -> None:
        """names: the new name of each tensor, with the one that it has in the file."""
        self._store, self._names = store, names
        self.shapes: dict[str, Shape] = {name: store.shapes[old] for name, old in names.items()}

    def read(self, name: str) -> Tensor:
        return self._store.read(self._names[name])


def aligned(store: Store, wanted: set[str], prefix: str, spellings: Mapping[str, str] | None = None) -> Store:
    """The store with the names of the family's table, where only an old spelling or the prefix differs.

    Files of a model with a head often leave the prefix out, those of a model without one often have it.
    """
    names: dict[str, str] = {}
    for old in store.shapes:
        modern = _modern(old)
        other = next((start for start in spellings or {} if modern.startswith(start)), None)
        modern = modern if spellings is None or other is None else spellings[other] + modern.removeprefix(other)
        choices = (modern, prefix + modern, modern.removeprefix(prefix))
        names[next((name for name in choices if name in wanted), modern)] = old
    if len(names) != len(store.shapes):
        raise ValueError("the weights have a tensor under two spellings; they do not belong together")
    return Renamed(store, names)


def _shards(folder: Path) -> Safetensors:
    """An index file names the shard of each tensor; it must name files of this folder, and agree with them."""
    index = folder / INDEX
    placed = read_json(index).get("weight_map")
    if not isinstance(placed, dict) or not placed or not all(isinstance(file, str) for file in placed.values()):
        raise ValueError(f"{index} has no weight_map from tensors to files; download it again")
    files = sorted(set(placed.values()))
    for file in files:
        if file != Path(file).name or "\\" in file or "\0" in file or not file.endswith(".safetensors"):
            raise ValueError(f"{index} names {file!r}, which is not a safetensors file of this folder; refused")
        if not (folder / file).is_file():
            raise ValueError(f"{folder / file} is missing, but {INDEX} names it; download the folder again")
    store = Safetensors({file: folder / file for file in files})
    for file in files:
        promised = {name for name, home in placed.items() if home == file}
        wrong = sorted(promised ^ store.names_in(file))
        if wrong:
            raise ValueError(f"{index} and {file} do not agree on {wrong[0]}; download the folder again")
    return store


def _header(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Shape:
    if not member.filename.endswith(".npy"):
        raise ValueError(f"{member.filename} is not an array")
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(file)
        numbers = member.file_size - file.tell()
    if dtype.hasobject:
        raise ValueError(f"{member.filename} holds Python objects, which would have to be unpickled")
    if math.prod(shape) * dtype.itemsize > numbers:
        raise ValueError(f"{member.filename} is shorter than its header says")
    return tuple(shape)


def _modern(name: str) -> str:
    """gamma and beta are what the first BERT files called the two vectors of a norm; weight_g and weight_v were the
    length and the direction of a weight before PyTorch had parametrizations."""
    for old, new in (("weight_g", "original0"), ("weight_v", "original1")):
        if name.endswith("." + old):
            return f"{name.removesuffix(old)}parametrizations.weight.{new}"
    if name.endswith(".gamma"):
        return name.removesuffix("gamma") + "weight"
    return name.removesuffix("beta") + "bias" if name.endswith(".beta") else name
