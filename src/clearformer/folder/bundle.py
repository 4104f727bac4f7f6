"""A model on disk: one folder that can be copied anywhere and loads without running anybody's code.

config.json        what the model is, its tokenizers' facts, where it comes from
model.safetensors  the weights
tokenizer.json     the source side's, or everything's, vocabulary; target_tokenizer.json where the target has its own
manifest.json      SHA-256 of each of them
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from clearformer.folder.description import FORMAT, load_tokenizer, read_description
from clearformer.foundation import settings, storage
from clearformer.model.build import build
from clearformer.model.config import ModelConfig
from clearformer.model.weights import put_weights, weights_of
from clearformer.text.tokenizer import Tokenizer


@dataclass(frozen=True, kw_only=True)
class Markers:
    """Which ids stand around the texts of an encoder–decoder, where they are not those of a model trained here."""

    before_source: tuple[int, ...] = ()
    after_source: tuple[int, ...] = ()
    start: int  # the decoder's first input
    forced: tuple[int, ...] = ()  # what every output begins with


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """A model with all that is needed to use it."""

    config: ModelConfig
    model: nn.Module
    tokenizer: Tokenizer | None = None
    target_tokenizer: Tokenizer | None = None  # None: one vocabulary for both sides
    markers: Markers | None = None  # None: a source ends with <eos>, a target begins with <bos>
    labels: tuple[str, ...] = ()  # the names of the classes, for heads that have some
    provenance: dict[str, Any] = field(default_factory=dict)  # data, recipe, scores, licence, attribution


def save(bundle: Bundle, folder: Path, *, dtype: Literal["float32", "float16"] = "float32") -> None:
    """Write a model folder, whole or not at all. float16 halves the file; loading always gives float32."""
    described = {
        "format": FORMAT,
        "model": settings.to_plain(bundle.config),
        "tokenizer": None if bundle.tokenizer is None else bundle.tokenizer.facts(),
        "target_tokenizer": None if bundle.target_tokenizer is None else bundle.target_tokenizer.facts(),
        "provenance": bundle.provenance,
    }
    if bundle.markers is not None:
        described["markers"] = settings.to_plain(bundle.markers)
    if bundle.labels:
        described["labels"] = list(bundle.labels)
    number = {"float32": torch.float32, "float16": torch.float16}[dtype]
    with storage.new_folder(folder) as aside:
        storage.write_json(aside / "config.json", described)
        weights = {name: _as(number, name, weight) for name, weight in weights_of(bundle.model).items()}
        storage.write_tensors(aside / "model.safetensors", weights)
        if bundle.tokenizer is not None:
            bundle.tokenizer.save(aside / "tokenizer.json")
        if bundle.target_tokenizer is not None:
            bundle.target_tokenizer.save(aside / "target_tokenizer.json")


def load(folder: Path) -> Bundle:
    """Open a model folder after checking every file against the manifest."""
    described = read_description(folder)
    storage.verify(folder)
    if not (folder / "model.safetensors").exists():
        raise ValueError(f"{folder} holds weights for ctranslate2 alone; give the folder that it was made from instead")
    config = settings.parse(ModelConfig, described["model"], str(folder / "config.json"))
    model = build(config)
    try:
        put_weights(model, storage.read_tensors(folder / "model.safetensors"))
    except ValueError as error:
        raise storage.DamagedError(f"{folder / 'model.safetensors'}: {error}") from error
    return Bundle(
        config=config,
        model=model.eval(),
        tokenizer=load_tokenizer(folder, "tokenizer", described),
        target_tokenizer=load_tokenizer(folder, "target_tokenizer", described),
        markers=_markers(described, str(folder / "config.json")),
        labels=tuple(described.get("labels", ())),
        provenance=described.get("provenance", {}),
    )


def _markers(described: dict[str, Any], where: str) -> Markers | None:
    return settings.parse(Markers, described["markers"], where) if "markers" in described else None


def _as(number: torch.dtype, name: str, weight: Tensor) -> Tensor:
    """Narrow the weights, not counters; one that float16 cannot hold would come back as infinite."""
    narrow = weight.to(number) if weight.is_floating_point() else weight
    if bool((weight.isfinite() & ~narrow.isfinite()).any()):
        raise ValueError(f"{name} has values that {number} cannot hold; save this model as float32")
    return narrow
