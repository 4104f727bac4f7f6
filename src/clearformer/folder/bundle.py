"""A model on disk: one folder that can be copied anywhere and loads without running anybody's code.

config.json        what the model is for, its network, how it reads its input, where it comes from
model.safetensors  the weights
tokenizer.json     the source side's, or everything's, vocabulary; target_tokenizer.json where the target has its own
manifest.json      SHA-256 of each of them

A folder of adapters has adapters.safetensors in place of the weights: what differs from a base model, whose folder it
names. It is loaded as one plain model.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os.path import relpath
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from clearformer.folder.description import CONFIG, FORMAT, ModelFolder, open_folder
from clearformer.folder.eight_bits import SCALE, from_eight_bits, to_eight_bits
from clearformer.folder.fetched import HUB, pinned_name
from clearformer.folder.preprocessing import Markers, Preprocessing
from clearformer.foundation import settings, storage
from clearformer.model.adapters import merged_weights
from clearformer.model.build import build
from clearformer.model.config import ModelConfig
from clearformer.model.described import described
from clearformer.model.weights import put_weights, weights_of
from clearformer.text.tokenizer import Tokenizer

WEIGHTS, ADAPTERS = "model.safetensors", "adapters.safetensors"


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """A model with all that is needed to use it."""

    config: ModelConfig
    model: nn.Module
    task: str | None = None  # None: the head says what it is for
    preprocessing: Preprocessing = field(default_factory=Preprocessing)
    provenance: dict[str, Any] = field(default_factory=dict)  # data, recipe, scores, licence, attribution
    base: str | None = None  # the folder of the model that this one's adapters stand beside
    eight_bits: bool = False  # the weights were rounded to eight bits, and are wanted so in use

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


def save(bundle: Bundle, folder: Path, *, dtype: Literal["float32", "float16", "int8"] = "float32") -> None:
    """Write a model folder, whole or not at all. float16 halves the file, int8 makes it a quarter; loading always gives
    float32."""
    number = torch.float32 if dtype == "float32" else torch.float16
    weights = weights_of(bundle.model)
    base = None if bundle.base is None else open_folder(bundle.base)
    if base is not None:
        given = storage.read_tensors(base.path / WEIGHTS)
        weights = {name: w for name, w in weights.items() if name not in given or not torch.equal(w.cpu(), given[name])}
    with storage.new_folder(folder) as aside:
        _describe(bundle, aside, adapters=None if base is None else _beside(base, folder))
        weights = to_eight_bits(weights) if dtype == "int8" else weights
        narrow = {name: _as(number, name, weight) for name, weight in weights.items()}
        storage.write_tensors(aside / (WEIGHTS if base is None else ADAPTERS), narrow)


def save_description(bundle: Bundle, folder: Path) -> None:
    """Write everything but the weights: what a run says of its model before there is one."""
    with storage.new_folder(folder) as aside:
        _describe(bundle, aside)


def _describe(bundle: Bundle, folder: Path, adapters: dict[str, str] | None = None) -> None:
    facts = {
        "format": FORMAT,
        "task": bundle.task,
        "model": settings.to_plain(described(bundle.config)),
        "preprocessing": bundle.preprocessing.plain(),
        "provenance": bundle.provenance,
        "adapters": adapters,
    }
    storage.write_json(folder / CONFIG, {name: value for name, value in facts.items() if value is not None})
    bundle.preprocessing.save_files(folder)


def load(folder: Path | ModelFolder) -> Bundle:
    """Open a model folder after checking every file against the manifest. Adapters are added to their base."""
    opened = open_folder(folder)
    opened.verify()
    adapters = opened.description.adapters
    weights = opened.path / (WEIGHTS if adapters is None else ADAPTERS)
    if not weights.exists():
        raise ValueError(
            f"{opened.path} holds weights for ctranslate2 alone; give the folder that it was made from instead"
        )
    try:
        read, eight_bits = from_eight_bits(storage.read_tensors(weights))
    except ValueError as error:
        raise storage.DamagedError(f"{weights}: {error}") from error
    try:
        bundle = with_weights(opened, read, base={} if adapters is None else _base_weights(opened.path, adapters))
    except WrongWeights as error:
        raise storage.DamagedError(f"{weights}: {error}") from error
    return replace(bundle, eight_bits=eight_bits)


def _beside(base: ModelFolder, folder: Path) -> dict[str, str]:
    """How a folder of adapters finds its base again: by the way from here to there, by name, and by its weights."""
    base.verify()
    return {
        "base": relpath(base.path.resolve(), folder.resolve()),
        "name": pinned_name(base.path) or base.path.name,
        "weights": storage.sha256(base.path / WEIGHTS),
    }


def _base_weights(folder: Path, adapters: Mapping[str, Any]) -> dict[str, Tensor]:
    """The weights that adapters were trained beside; those of any other model are refused."""
    where, name = folder / str(adapters.get("base")), str(adapters.get("name"))
    try:
        base = open_folder(where if where.is_dir() else name)
    except ValueError as error:
        if name.startswith(HUB):
            raise ValueError(f"{folder} holds adapters for {name}: {error}") from None
        raise ValueError(
            f"{folder} holds adapters, and the model that they belong to is not at {where}; put it there, or merge the "
            "two where both are: clearformer export ADAPTERS FOLDER --to clearformer"
        ) from None
    base.verify()
    if storage.sha256(base.path / WEIGHTS) != adapters.get("weights"):
        raise ValueError(f"{base.path} is not the model that the adapters in {folder} were trained with")
    return from_eight_bits(storage.read_tensors(base.path / WEIGHTS))[0]


class WrongWeights(ValueError):  # noqa: N818 - says what they are
    """Weights of another model than the folder describes."""


def with_weights(folder: ModelFolder, weights: dict[str, Tensor], base: dict[str, Tensor] | None = None) -> Bundle:
    """The model that a folder describes, with these weights, and those of its base where they say nothing."""
    told = folder.description
    config = settings.parse(ModelConfig, told.model, str(folder.path / CONFIG))
    model = build(config)
    own = weights_of(model)
    kept = {name: weight for name, weight in (base or {}).items() if name in own}
    try:
        put_weights(model, merged_weights(kept | weights))
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
    narrow = weight.to(number) if weight.is_floating_point() and not name.endswith(SCALE) else weight
    if bool((weight.isfinite() & ~narrow.isfinite()).any()):
        raise ValueError(f"{name} has values that {number} cannot hold; save this model as float32")
    return narrow
