"""GGUF files: one file with settings, vocabulary and weights, mostly in a few bits each.

The list of what a file holds is read here, every count checked against the file's size; the `gguf` package
converts quantised weights. They become float32, one tensor at a time.
"""

import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import Preprocessing
from clearformer.folder.rounded_weights import Kept
from clearformer.foundation import storage
from clearformer.interop import gguf_architectures, gguf_vocabulary
from clearformer.interop.binary import BinaryReader
from clearformer.interop.chat_templates import kept_template
from clearformer.interop.config_keys import Keys
from clearformer.interop.foreign_files import open_binary
from clearformer.interop.imported import Imported, assemble
from clearformer.interop.renaming import RenamingTable, Shape, pairs, under
from clearformer.model.config import AttentionConfig, EmbeddingConfig, ModelConfig, NormConfig, PositionConfig
from clearformer.model.families import llama

MAGIC, VERSIONS = b"GGUF", (2, 3)
_MOST_TEXT = 1 << 24  # characters of a chat template or a piece, never more


def can_read(path: Path) -> bool:
    """Whether a file is of this format."""
    if not path.is_file():
        return False
    with open_binary(path) as file:
        return file.read(4) == MAGIC


def read(path: Path) -> Imported:
    """A GGUF file as one of our models."""
    file = File(path)
    kind = file.facts.get("general.architecture")
    if kind == "llama":
        config = _config(file)
        model, aside = assemble(config, _names(), file)
    else:
        config, model, aside = gguf_architectures.read(file)
    tokenizer, notes = gguf_vocabulary.read(file, config.vocab_size)
    said = file.facts.get("tokenizer.chat_template")
    template, not_understood = (None, ()) if tokenizer is None else kept_template(said, tokenizer.special)
    provenance: dict[str, Any] = {
        "imported_from": file.facts.get("general.name") or path.name,
        "format": "gguf",
        "licence": file.facts.get("general.license"),
        "files": {path.name: storage.sha256(path)},
    }
    found = Bundle(
        config=config,
        model=model,
        preprocessing=Preprocessing(tokenizer=tokenizer, chat_template=template),
        provenance={key: value for key, value in provenance.items() if value is not None},
        kept=file.kept,
    )
    return Imported(bundle=found, aside=aside, notes=(*notes, *not_understood))


# ---- the file -------------------------------------------------------------------------------------------------------

# The kinds of values, by their number: how `struct` writes them, and how many bytes each takes.
_CODES = {0: ("B", 1), 1: ("b", 1), 2: ("H", 2), 3: ("h", 2), 4: ("I", 4), 5: ("i", 4), 6: ("f", 4), 7: ("?", 1)}
_CODES |= {10: ("Q", 8), 11: ("q", 8), 12: ("d", 8)}
_TEXT, _ARRAY = 8, 9
_HALVES: dict[int, Kept] = {1: "float16", 30: "bfloat16"}  # types of tensors that have two bytes a number


@dataclass(frozen=True, kw_only=True)
class _Stored:
    """Where a tensor is stored, and in which type. The shape is in our order: rows first."""

    shape: Shape
    type: int
    place: int
    bytes: int


class File:
    """A GGUF file: its facts, and its tensors as a store."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.facts: dict[str, Any] = {}
        self._tensors: dict[str, _Stored] = {}
        with BinaryReader(path) as reader:
            if reader.raw(4, "its first word") != MAGIC:
                raise ValueError(f"{path} is not a GGUF file: it does not begin with that word")
            version = reader.number("I", "its version")
            if version not in VERSIONS:
                raise ValueError(
                    f"{path} is of version {version} of GGUF; supported are {' and '.join(map(str, VERSIONS))}"
                )
            tensors = reader.count("Q", "tensors", each=24)
            for _ in range(reader.count("Q", "facts", each=13)):
                key = _text(reader, "a fact's name")
                if key in self.facts:
                    raise ValueError(f"{path} has {key} twice; download it again")
                self.facts[key] = _value(reader, key)
            listed = [self._entry(reader) for _ in range(tensors)]
            self._place(listed, reader)

    @property
    def shapes(self) -> dict[str, Shape]:
        return {name: tensor.shape for name, tensor in self._tensors.items()}

    def read(self, name: str) -> Tensor:
        """A tensor in the two bytes that it has, or in float32, whatever type it is stored in."""
        package, stored = _package(), self._tensors[name]
        raw = np.fromfile(self.path, dtype=np.uint8, count=stored.bytes, offset=stored.place)
        if stored.type in _HALVES:
            return torch.from_numpy(raw).view(getattr(torch, _HALVES[stored.type])).view(stored.shape)
        rows = raw.reshape(*stored.shape[:-1], -1)
        try:
            values = package.quants.dequantize(rows, package.GGMLQuantizationType(stored.type))
        except NotImplementedError:
            kind = package.GGMLQuantizationType(stored.type).name
            raise ValueError(
                f"{self.path}: {name} is stored as {kind}, which the gguf package does not convert; take a file in "
                "another quantisation, such as Q8_0"
            ) from None
        return torch.from_numpy(np.array(values, dtype=np.float32).reshape(stored.shape))

    @property
    def kept(self) -> Kept:
        """The type of most of the numbers, if it is one that a model folder keeps."""
        numbers: Counter[int] = Counter()
        for tensor in self._tensors.values():
            numbers[tensor.type] += math.prod(tensor.shape)
        return _HALVES.get(max(numbers, key=lambda kind: numbers[kind], default=0), "float32")

    def _entry(self, reader: BinaryReader) -> tuple[str, Shape, int, int]:
        name = _text(reader, "a tensor's name")
        rank = reader.number("I", f"the shape of {name}")
        if not 1 <= rank <= 4:
            raise ValueError(
                f"{self.path}: {name} has {rank} dimensions, and a tensor has one to four; download it again"
            )
        shape = tuple(reader.number("Q", f"the shape of {name}") for _ in range(rank))[::-1]
        return name, shape, reader.number("I", f"the type of {name}"), reader.number("Q", f"the place of {name}")

    def _place(self, listed: list[tuple[str, Shape, int, int]], reader: BinaryReader) -> None:
        """Check the list against the file, before any numbers are read."""
        step = self.facts.get("general.alignment", 32)
        if not isinstance(step, int) or not 1 <= step <= 1 << 16:
            raise ValueError(f"{self.path}: general.alignment is {step!r}, which is not a valid alignment")
        begins = -(-reader.place // step) * step
        for name, shape, kind, offset in listed:
            size = _bytes(self.path, name, shape, kind)
            if offset % step or begins + offset + size > reader.size:
                raise ValueError(f"{self.path}: {name} lies outside the file; download it again")
            if name in self._tensors:
                raise ValueError(f"{self.path} has {name} twice; download it again")
            self._tensors[name] = _Stored(shape=shape, type=kind, place=begins + offset, bytes=size)


def _bytes(path: Path, name: str, shape: Shape, kind: int) -> int:
    """How many bytes a tensor of this shape and type takes."""
    package = _package()
    sizes = {int(known): size for known, size in package.GGML_QUANT_SIZES.items()}
    if kind not in sizes:
        raise ValueError(f"{path}: {name} is of the unknown type {kind}; a newer gguf package may support it")
    block, each = sizes[kind]
    if 0 in shape or shape[-1] % block:
        raise ValueError(f"{path}: {name} has rows of {shape[-1]}, which do not divide into blocks of {block}")
    size: int = math.prod(shape) // block * each
    return size


def _text(reader: BinaryReader, what: str) -> str:
    length = reader.count("Q", f"characters of {what}", each=1)
    if length > _MOST_TEXT:
        raise ValueError(f"{reader.path}: {what} has {length:,} characters; refused")
    try:
        return reader.raw(length, what).decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{reader.path}: {what} is not text; download it again") from None


def _value(reader: BinaryReader, key: str) -> Any:
    kind = reader.number("I", f"the kind of {key}")
    if kind == _TEXT:
        return _text(reader, key)
    if kind != _ARRAY:
        return _number(reader, kind, key)
    inner = reader.number("I", f"the kind of {key}")
    if inner == _TEXT:
        return [_text(reader, key) for _ in range(reader.count("Q", f"texts of {key}", each=8))]
    if inner not in _CODES:
        raise ValueError(f"{reader.path}: {key} is a list of lists or of an unknown kind; download it again")
    code, each = _CODES[inner]
    count = reader.count("Q", f"numbers of {key}", each=each)
    return np.frombuffer(reader.raw(count * each, key), dtype=np.dtype(code).newbyteorder("<")).tolist()


def _number(reader: BinaryReader, kind: int, key: str) -> Any:
    if kind not in _CODES:
        raise ValueError(f"{reader.path}: {key} is of the unknown kind {kind}; download it again")
    code, each = _CODES[kind]
    return np.frombuffer(reader.raw(each, key), dtype=np.dtype(code).newbyteorder("<"))[0].item()


def _package() -> Any:
    """The `gguf` package, which converts quantised weights."""
    try:
        import gguf
    except ImportError:
        raise ValueError(
            "reading GGUF needs the gguf package; install it with: pip install 'clearformer[gguf]'"
        ) from None
    return gguf


# ---- what the model is ----------------------------------------------------------------------------------------------


_DEFAULTS = {"rope.freq_base": 10_000.0, "attention.layer_norm_rms_epsilon": 1e-5}  # of llama.cpp


def _config(file: File) -> ModelConfig:
    plain = {key.removeprefix("llama."): value for key, value in file.facts.items() if key.startswith("llama.")}
    keys = Keys({"model_type": "gguf", **plain}, str(file.path), file.shapes, defaults=_DEFAULTS)
    dim, heads = keys.size("embedding_length"), keys.size("attention.head_count", most=4096)
    layers = keys.layers("block_count")
    present = {name.split(".")[1] for name in file.shapes if name.startswith("blk.")}
    if len(present) != layers:
        raise ValueError(f"{file.path} says that it has {layers} layers, but holds the tensors of {len(present)}")
    head_dim = keys.optional_size("attention.key_length") or dim // heads
    keys.must("attention.value_length", head_dim)
    keys.must("rope.dimension_count", head_dim)
    config = llama(
        vocab_size=_rows(file, "token_embd.weight"),
        dim=dim,
        hidden_dim=keys.size("feed_forward_length"),
        layers=layers,
        max_len=keys.size("context_length"),
        attention=AttentionConfig(
            heads=heads,
            kv_heads=keys.optional_size("attention.head_count_kv"),
            head_dim=None if head_dim * heads == dim else head_dim,
            bias="blk.0.attn_q.bias" in file.shapes,
        ),
        # Queries and keys are stored so that neighbouring features are rotated together.
        position=PositionConfig(kind="rotary", pairs="neighbours", base=keys.above_zero("rope.freq_base")),
        norm=NormConfig(kind="rms", place="pre", eps=keys.not_negative("attention.layer_norm_rms_epsilon")),
        embedding=EmbeddingConfig(tie="none" if "output.weight" in file.shapes else "all"),
    )
    keys.must("vocab_size", config.vocab_size)
    keys.must("rope.scaling.type", "none")
    keys.must("expert_count", 0)
    keys.finish()
    return config


def _rows(file: File, name: str) -> int:
    shape = file.shapes.get(name, ())
    if len(shape) != 2:
        raise ValueError(f"{file.path} has no matrix {name}, which every model has")
    return shape[0]


def _names() -> RenamingTable:
    layer = pairs(
        {
            "self_attn_residual.before": "attn_norm",
            "self_attn.q_proj": "attn_q",
            "self_attn.k_proj": "attn_k",
            "self_attn.v_proj": "attn_v",
            "self_attn.out_proj": "attn_output",
            "ffn_residual.before": "ffn_norm",
            "ffn.gate_proj": "ffn_gate",
            "ffn.up_proj": "ffn_up",
            "ffn.down_proj": "ffn_down",
        }
    )
    ends = pairs(
        {
            "decoder.front.embed": "token_embd",
            "decoder.norm": "output_norm",
            "head.table": "output.weight",
        }
    )
    return RenamingTable([*ends, *under("decoder.layers.*", "blk.*", layer)])
