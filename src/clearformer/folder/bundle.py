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
from typing import Any

import torch
from torch import Tensor, nn

from clearformer.folder.description import CONFIG, FORMAT, ModelFolder, open_folder
from clearformer.folder.fetched import HUB, pinned_name
from clearformer.folder.preprocessing import Markers, Preprocessing
from clearformer.folder.rounded_weights import MIDDLE, SCALE, Kept, from_rounded, kept_as, plain_weights, to_rounded
from clearformer.foundation import settings, storage
from clearformer.model.adapters import merged_weights
from clearformer.model.config import ModelConfig
from clearformer.model.described import described
from clearformer.model.from_weights import Stored, network_from, shapes_of, widened
from clearformer.model.rounded import GROUP, RoundedLinear
from clearformer.model.weights import weights_of
from clearformer.text.tokenizer import Tokenizer

WEIGHTS, ADAPTERS = "model.safetensors", "adapters.safetensors"
_BITS = {"int8": 8, "int4": 4}


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """A model with all that is needed to use it."""

    config: ModelConfig
    model: nn.Module
    task: str | None = None  # None: the head says what it is for
    preprocessing: Preprocessing = field(default_factory=Preprocessing)
    provenance: dict[str, Any] = field(default_factory=dict)  # data, recipe, scores, licence, attribution
    base: str | None = None  # the folder of the model that this one's adapters stand beside
    kept: Kept = "float32"  # how the weights lie on disk

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


def save(bundle: Bundle, folder: Path, *, dtype: Kept | None = None) -> None:
    """Write a model folder, whole or not at all.

    dtype: how its matrices are kept, by default as they were: bfloat16 and float16 halve the file, int8 and int4 make
    it a quarter or less. What was float32 beside matrices of two bytes and would lose by them stays float32.
    """
    weights = weights_of(widened(bundle.model) if _is_rounded(bundle.model) else bundle.model)
    base = None if bundle.base is None else open_folder(bundle.base)
    if base is not None:
        given = plain_weights(from_rounded(storage.read_tensors(base.path / WEIGHTS)))
        weights = {name: w for name, w in weights.items() if name not in given or not torch.equal(w.cpu(), given[name])}
    kept = dtype or bundle.kept
    with storage.new_folder(folder) as aside:
        _describe(bundle, aside, adapters=None if base is None else _beside(base, folder), kept=kept)
        weights = to_rounded(weights, _BITS[kept]) if kept in _BITS else weights
        number = getattr(torch, kept) if kept not in _BITS else torch.float16
        narrow = {name: _as(number, name, weight, exact=dtype is None) for name, weight in weights.items()}
        storage.write_tensors(aside / (WEIGHTS if base is None else ADAPTERS), narrow)


def _is_rounded(model: nn.Module) -> bool:
    return any(isinstance(module, RoundedLinear) for module in model.modules())


def save_description(bundle: Bundle, folder: Path) -> None:
    """Write everything but the weights: what a run says of its model before there is one."""
    with storage.new_folder(folder) as aside:
        _describe(bundle, aside)


def _describe(bundle: Bundle, folder: Path, adapters: dict[str, str] | None = None, kept: Kept = "float32") -> None:
    facts = {
        "format": FORMAT,
        "task": bundle.task,
        "model": settings.to_plain(described(bundle.config)),
        "preprocessing": bundle.preprocessing.plain(),
        "provenance": bundle.provenance,
        "adapters": adapters,
        "weights": {"bits": 4, "group": GROUP} if kept == "int4" else None,
    }
    storage.write_json(folder / CONFIG, {name: value for name, value in facts.items() if value is not None})
    bundle.preprocessing.save_files(folder)


def load(folder: Path | ModelFolder, *, as_kept: bool = False) -> Bundle:
    """Open a model folder after checking every file against the manifest. Adapters are added to their base.

    The file is mapped into memory, and weights in float32 are used where they lie. as_kept: a model that continues
    texts also uses those of fewer bits as they are; it computes with them in float32, and does not learn.
    """
    opened = open_folder(folder)
    opened.verify()
    adapters = opened.description.adapters
    weights = opened.path / (WEIGHTS if adapters is None else ADAPTERS)
    if not weights.exists():
        raise ValueError(
            f"{opened.path} holds weights for ctranslate2 alone; give the folder that it was made from instead"
        )
    try:
        read = from_rounded(storage.read_tensors(weights))
    except ValueError as error:
        raise storage.DamagedError(f"{weights}: {error}") from error
    try:
        base = {} if adapters is None else _base_weights(opened.path, adapters)
        bundle = with_weights(opened, read, base=base, as_kept=as_kept)
    except WrongWeights as error:
        raise storage.DamagedError(f"{weights}: {error}") from error
    return replace(bundle, kept=kept_as(read))


def _beside(base: ModelFolder, folder: Path) -> dict[str, str]:
    """How a folder of adapters finds its base again: by the way from here to there, by name, and by its weights."""
    base.verify()
    return {
        "base": relpath(base.path.resolve(), folder.resolve()),
        "name": pinned_name(base.path) or base.path.name,
        "weights": storage.sha256(base.path / WEIGHTS),
    }


def _base_weights(folder: Path, adapters: Mapping[str, Any]) -> dict[str, Stored]:
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
    return from_rounded(storage.read_tensors(base.path / WEIGHTS))


class WrongWeights(ValueError):  # noqa: N818 - says what they are
    """Weights of another model than the folder describes."""


def with_weights(
    folder: ModelFolder,
    weights: Mapping[str, Stored],
    base: Mapping[str, Stored] | None = None,
    *,
    as_kept: bool = False,
) -> Bundle:
    """The model that a folder describes, with these weights, and those of its base where they say nothing."""
    told = folder.description
    config = settings.parse(ModelConfig, told.model, str(folder.path / CONFIG))
    given = dict(base or {})
    if given:
        own = shapes_of(config)
        given = {name: weight for name, weight in given.items() if name in own}
    try:
        model = network_from(config, merged_weights(given | dict(weights)), narrow=as_kept)
    except ValueError as error:
        raise WrongWeights(str(error)) from error
    return Bundle(
        config=config,
        model=model,
        task=told.task,
        preprocessing=folder.preprocessing,
        provenance=dict(told.provenance),
    )


def _as(number: torch.dtype, name: str, weight: Tensor, *, exact: bool) -> Tensor:
    """Narrow the weights, not counters; one that float16 cannot hold would come back as infinite. exact: only what
    loses nothing."""
    if not weight.is_floating_point() or name.endswith((SCALE, MIDDLE)):
        return weight
    narrow = weight.to(number)
    if exact and not torch.equal(narrow.to(weight.dtype), weight):
        return weight
    if bool((weight.isfinite() & ~narrow.isfinite()).any()):
        raise ValueError(f"{name} has values that {number} cannot hold; save this model as float32")
    return narrow
