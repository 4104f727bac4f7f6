"""A model on disk: one folder that can be copied anywhere and loads without running anybody's code.

config.json        what the model is for, its network, how it reads its input, where it comes from
model.safetensors  the weights
tokenizer.json     the source side's, or everything's, vocabulary; target_tokenizer.json where the target has its own
manifest.json      SHA-256 of each of them
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from clearformer.folder.description import CONFIG, FORMAT, ModelFolder, open_folder
from clearformer.folder.preprocessing import Markers, Preprocessing
from clearformer.foundation import settings, storage
from clearformer.model.build import build
from clearformer.model.config import ModelConfig, described
from clearformer.model.weights import put_weights, weights_of
from clearformer.text.tokenizer import Tokenizer

WEIGHTS = "model.safetensors"


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """A model with all that is needed to use it."""

    config: ModelConfig
    model: nn.Module
    task: str | None = None  # None: the head says what it is for
    preprocessing: Preprocessing = field(default_factory=Preprocessing)
    provenance: dict[str, Any] = field(default_factory=dict)  # data, recipe, scores, licence, attribution

    @property
    def tokenizer(self) -> Tokenizer | None:
        return self.preprocessing.tokenizer

    @property
    def target_tokenizer(self) -> Tokenizer | None:
        return self.preprocessing.target_tokenizer

    @property
    def markers(self) -> Markers | None:
        return self.preprocessing.markers

    @property
    def labels(self) -> tuple[str, ...]:
        return self.preprocessing.labels


def save(bundle: Bundle, folder: Path, *, dtype: Literal["float32", "float16"] = "float32") -> None:
    """Write a model folder, whole or not at all. float16 halves the file; loading always gives float32."""
    number = {"float32": torch.float32, "float16": torch.float16}[dtype]
    with storage.new_folder(folder) as aside:
        _describe(bundle, aside)
        weights = {name: _as(number, name, weight) for name, weight in weights_of(bundle.model).items()}
        storage.write_tensors(aside / WEIGHTS, weights)


def save_description(bundle: Bundle, folder: Path) -> None:
    """Write everything but the weights: what a run says of its model before there is one."""
    with storage.new_folder(folder) as aside:
        _describe(bundle, aside)


def _describe(bundle: Bundle, folder: Path) -> None:
    facts = {
        "format": FORMAT,
        "task": bundle.task,
        "model": settings.to_plain(described(bundle.config)),
        "preprocessing": bundle.preprocessing.plain(),
        "provenance": bundle.provenance,
    }
    storage.write_json(folder / CONFIG, {name: value for name, value in facts.items() if value is not None})
    bundle.preprocessing.save_files(folder)


def load(folder: Path | ModelFolder) -> Bundle:
    """Open a model folder after checking every file against the manifest."""
    opened = open_folder(folder)
    opened.verify()
    weights = opened.path / WEIGHTS
    if not weights.exists():
        raise ValueError(
            f"{opened.path} holds weights for ctranslate2 alone; give the folder that it was made from instead"
        )
    try:
        return with_weights(opened, storage.read_tensors(weights))
    except WrongWeights as error:
        raise storage.DamagedError(f"{weights}: {error}") from error


class WrongWeights(ValueError):  # noqa: N818 - says what they are
    """Weights of another model than the folder describes."""


def with_weights(folder: ModelFolder, weights: dict[str, Tensor]) -> Bundle:
    """The model that a folder describes, with these weights."""
    told = folder.description
    config = settings.parse(ModelConfig, told.model, str(folder.path / CONFIG))
    model = build(config)
    try:
        put_weights(model, weights)
    except ValueError as error:
        raise WrongWeights(str(error)) from error
    return Bundle(
        config=config,
        model=model.eval(),
        task=told.task,
        preprocessing=folder.preprocessing,
        provenance=dict(told.provenance),
    )


def _as(number: torch.dtype, name: str, weight: Tensor) -> Tensor:
    """Narrow the weights, not counters; one that float16 cannot hold would come back as infinite."""
    narrow = weight.to(number) if weight.is_floating_point() else weight
    if bool((weight.isfinite() & ~narrow.isfinite()).any()):
        raise ValueError(f"{name} has values that {number} cannot hold; save this model as float32")
    return narrow
