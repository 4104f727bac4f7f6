"""The [model] section of a recipe: a preset, a family or a model folder, and values laid over it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clearformer.folder.description import find_model, read_description
from clearformer.foundation import settings
from clearformer.model.config import ModelConfig
from clearformer.model.families import FAMILIES
from clearformer.model.presets import PRESETS, preset


def model_config(values: Mapping[str, Any], sizes: Mapping[str, Any], *, base: Path | None = None) -> ModelConfig:
    """The `[model]` section as a configuration: a preset, family or folder, with the section's other values over it.

    sizes: what the data decides. base: the folder to begin with.
    """
    rest = dict(values)
    start, name, family = rest.pop("from", None), rest.pop("preset", None), rest.pop("family", None)
    if start is not None:  # the widths are that model's; dropout may be ours, and a head that the data decides
        described = read_description(base or find_model(start)).model
        return settings.parse(
            ModelConfig, merge(merge(described, rest), sizes), f"[model] from {start}", within="model"
        )
    if name is not None:
        given = settings.to_plain(preset(name))
    elif family is not None:
        if family not in FAMILIES:
            raise ValueError(f"there is no model family {family!r}; choose one of {', '.join(FAMILIES)}")
        given = settings.to_plain(FAMILIES[family](vocab_size=sizes.get("vocab_size", 1)))
    else:
        raise ValueError(f"the [model] section needs a preset ({', '.join(PRESETS)}) or a family")
    return settings.parse(ModelConfig, merge(merge(given, rest), sizes), "", within="model")


def merge(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Nested values with others laid over them."""
    merged = dict(base)
    for key, value in over.items():
        old = merged.get(key)
        merged[key] = merge(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return merged
