"""A recipe: everything that decides what a training run does, as one TOML file.

The sections are the configurations of the folders that do the work. `[model]` names a preset and lays values over it;
the vocabulary size comes from the vocabulary itself. `model.from` names a model folder to go on from instead.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any

from clearformer.folder.description import read_description
from clearformer.foundation import settings
from clearformer.inference.translation_settings import DecodingConfig
from clearformer.model.config import ModelConfig
from clearformer.model.families import FAMILIES
from clearformer.model.presets import PRESETS, preset
from clearformer.text.train_tokenizer import TokenizerConfig
from clearformer.training.loop import TrainingConfig


@dataclass(frozen=True, kw_only=True)
class DataConfig:
    """Parallel text: line n of a source file belongs to line n of its target file. Plain or .gz.

    corpus: a name from `clearformer data list`; file names are then relative to its folder, otherwise to the recipe's.
    train_source, train_target: one file, or a list of files that are read one after the other.
    """

    corpus: str | None = None
    source_language: str | None = None
    target_language: str | None = None
    train_source: str | tuple[str, ...] = ""
    train_target: str | tuple[str, ...] = ""
    dev_source: str = ""
    dev_target: str = ""
    test_source: str = ""
    test_target: str = ""
    max_length: int = 256  # longer sentences (in tokens) are left out, and counted
    split_pieces: float = 0.0  # chance that a piece is read as the two it was merged from (see data/splitting.py)
    attribution: str | None = None  # what a model trained on this has to say of its data
    licence: str | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.split_pieces < 1:
            raise ValueError(f"data.split_pieces is a chance, at least 0 and less than 1, not {self.split_pieces}")


@dataclass(frozen=True, kw_only=True)
class ScoringConfig:
    """How validation and evaluation compare: sacreBLEU's tokeniser ("none" for text that is split already)."""

    tokenise: str | None = None
    sentences: int = 1000  # of the development set that are translated at each validation


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """A run, described. `model` stays plain until the vocabulary is known."""

    name: str = "run"
    data: DataConfig
    vocabulary: TokenizerConfig = field(default_factory=TokenizerConfig)
    joint: bool = True  # one vocabulary for both languages
    model: dict[str, Any] = field(default_factory=lambda: {"preset": "tiny"})
    training: TrainingConfig = field(default_factory=TrainingConfig)
    decoding: DecodingConfig = field(default_factory=DecodingConfig)
    scoring: ScoringConfig = field(default_factory=ScoringConfig)


def read_recipe(path: Path, changes: Iterable[str] = ()) -> Recipe:
    """A recipe file with `key.path=value` changes laid over it."""
    changes, values = list(changes), settings.read_toml(path)
    where = f"{path} with {' '.join(changes)}" if changes else str(path)  # the mistake may be in either
    return settings.parse(Recipe, settings.overlay(values, changes), where)


def turned_round(recipe: Recipe) -> Recipe:
    """The same recipe for the other direction."""
    data, sides = recipe.data, {"source": "target", "target": "source"}
    swapped = {
        field_of(side): getattr(data, field_of(other))
        for field_of in ("{}_language".format, "train_{}".format, "dev_{}".format, "test_{}".format)
        for side, other in sides.items()
    }
    return replace(recipe, name=f"{recipe.name}-reverse", data=replace(data, **swapped))


def find_recipe(name: str) -> Path:
    """A recipe by file name, or by the name of one that ships with the package."""
    path = Path(name)
    if path.suffix == ".toml" or path.exists():
        return path
    shipped = Path(str(resources.files("clearformer") / "recipes" / f"{name}.toml"))
    if not shipped.exists():
        known = ", ".join(sorted(file.stem for file in shipped.parent.glob("*.toml")))
        raise ValueError(f"there is no recipe file {name} and no recipe of that name; shipped are {known}")
    return shipped


def model_config(values: Mapping[str, Any], *, vocab_size: int, target_vocab_size: int | None) -> ModelConfig:
    """The `[model]` section as a configuration: a preset or a family, with the section's other values over it."""
    rest = dict(values)
    if (start := rest.pop("from", None)) is not None:  # sizes and vocabulary are that model's; dropout may be ours
        return settings.parse(
            ModelConfig, _merge(read_description(Path(start))["model"], rest), f"[model] from {start}"
        )
    name, family = rest.pop("preset", None), rest.pop("family", None)
    if name is not None:
        base = settings.to_plain(preset(name))
    elif family is not None:
        if family not in FAMILIES:
            raise ValueError(f"there is no model family {family!r}; choose one of {', '.join(FAMILIES)}")
        base = settings.to_plain(FAMILIES[family](vocab_size=vocab_size))
    else:
        raise ValueError(f"the [model] section needs a preset ({', '.join(PRESETS)}) or a family")
    merged = _merge(base, rest) | {"vocab_size": vocab_size}
    if target_vocab_size is not None:
        merged["target_vocab_size"] = target_vocab_size
    return settings.parse(ModelConfig, merged, "[model]")


def _merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(base)
    for key, value in over.items():
        old = merged.get(key)
        merged[key] = _merge(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return merged
