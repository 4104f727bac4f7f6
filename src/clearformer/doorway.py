"""The Python door: open a model, use it, train one."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from clearformer import bundle, settings
from clearformer import run as running
from clearformer.folder import DEFAULT_MODEL, find_model
from clearformer.recipe import Recipe, find_recipe
from clearformer.translation import Translation
from clearformer.translator import Translator


def load(model: str | Path = DEFAULT_MODEL) -> Translator:
    """Open a model folder, or a model that ships with the package by its name."""
    return Translator(bundle.load(find_model(model)))


def translate(texts: str | Sequence[str], model: str | Path = DEFAULT_MODEL, **choices: Any) -> list[Translation]:
    """Translate in one call; `load` once and keep the model for more than that."""
    return load(model).translate(texts, **choices)


def train(
    recipe: str | Path, changes: Mapping[str, Any] | None = None, *, out: str | Path, resume: bool = False
) -> Path:
    """Train as a recipe file (or a shipped recipe's name) says; returns the finished model folder.

    changes: values by dotted key, such as {"training.steps": 500}.
    """
    path = find_recipe(str(recipe))
    values = settings.read_toml(path)
    for key, value in (changes or {}).items():
        values = settings.lay(values, key, value)
    parsed = settings.parse(Recipe, values, str(path))
    return running.train(parsed, Path(out), resume=resume, base=path.parent)
