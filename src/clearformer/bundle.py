"""A model on disk: one folder that can be copied anywhere and loads without running anybody's code.

config.json        what the model is, its tokenizers' facts, where it comes from
model.safetensors  the weights
tokenizer.json     the source side's, or everything's, vocabulary; target_tokenizer.json where the target has its own
manifest.json      SHA-256 of each of them
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from clearformer import settings, storage
from clearformer.model.build import build
from clearformer.model.config import ModelConfig
from clearformer.model.weights import put_weights, weights_of
from clearformer.text.tokenizer import Tokenizer

FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """A model with all that is needed to use it."""

    config: ModelConfig
    model: nn.Module
    tokenizer: Tokenizer | None = None
    target_tokenizer: Tokenizer | None = None  # None: one vocabulary for both sides
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
    config = settings.parse(ModelConfig, described["model"], str(folder / "config.json"))
    model = build(config)
    try:
        put_weights(model, storage.read_tensors(folder / "model.safetensors"))
    except ValueError as error:
        raise storage.DamagedError(f"{folder / 'model.safetensors'}: {error}") from error
    return Bundle(
        config=config,
        model=model.eval(),
        tokenizer=_tokenizer(folder, "tokenizer", described),
        target_tokenizer=_tokenizer(folder, "target_tokenizer", described),
        provenance=described.get("provenance", {}),
    )


def load_tokenizers(folder: Path) -> tuple[Tokenizer, Tokenizer]:
    """The vocabularies of a model folder, source and target, without its weights."""
    described = read_description(folder)
    source = _tokenizer(folder, "tokenizer", described)
    if source is None:
        raise ValueError(f"{folder} has no tokenizer, so it cannot read text")
    return source, _tokenizer(folder, "target_tokenizer", described) or source


def read_description(folder: Path) -> dict[str, Any]:
    """config.json of a model folder."""
    path = folder / "config.json"
    try:
        described: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"{folder} is not a model folder: it has no config.json") from None
    except (ValueError, UnicodeDecodeError) as error:
        raise storage.DamagedError(f"{path} is not valid JSON: {error}") from None
    if not isinstance(described, dict) or "model" not in described:
        raise ValueError(f"{path} was not written by clearformer; bring it over with `clearformer import`")
    if described.get("format") != FORMAT:
        raise ValueError(
            f"{path} has format {described.get('format')}, but this version reads format {FORMAT}; update clearformer"
        )
    return described


def _as(number: torch.dtype, name: str, weight: Tensor) -> Tensor:
    """Narrow the weights, not counters; one that float16 cannot hold would come back as infinite."""
    narrow = weight.to(number) if weight.is_floating_point() else weight
    if bool((weight.isfinite() & ~narrow.isfinite()).any()):
        raise ValueError(f"{name} has values that {number} cannot hold; save this model as float32")
    return narrow


def _tokenizer(folder: Path, name: str, described: dict[str, Any]) -> Tokenizer | None:
    facts = described.get(name)
    return None if facts is None else Tokenizer.load(folder / f"{name}.json", facts)
