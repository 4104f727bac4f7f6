"""The Python door: open a model, use it, train one.

What each way needs is imported when it is taken: who translates need not wait for what trains.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearformer.folder import DEFAULT_MODEL, find_model

if TYPE_CHECKING:
    from clearformer.translation import Translation
    from clearformer.translator import Translator


def load(model: str | Path = DEFAULT_MODEL) -> "Translator":
    """Open a model folder, or a model that ships with the package by its name, in PyTorch, where it can be traced."""
    from clearformer import bundle
    from clearformer.translator import Translator

    return Translator(bundle.load(find_model(model)))


def translate(texts: str | Sequence[str], model: str | Path = DEFAULT_MODEL, **choices: Any) -> "list[Translation]":
    """Translate in one call, by the fastest engine that can; `load` once and keep the model for more than that."""
    from clearformer.engines import open_translator
    from clearformer.translation import DecodingConfig

    config = DecodingConfig(**choices)
    return open_translator(model, "auto", config, by_token=True).translate(texts, config)


def train(
    recipe: str | Path, changes: Mapping[str, Any] | None = None, *, out: str | Path, resume: bool = False
) -> Path:
    """Train as a recipe file (or a shipped recipe's name) says; returns the finished model folder.

    changes: values by dotted key, such as {"training.steps": 500}.
    """
    from clearformer import run as running
    from clearformer import settings
    from clearformer.recipe import Recipe, find_recipe

    path = find_recipe(str(recipe))
    values = settings.read_toml(path)
    for key, value in (changes or {}).items():
        values = settings.lay(values, key, value)
    parsed = settings.parse(Recipe, values, str(path))
    return running.train(parsed, Path(out), resume=resume, base=path.parent)
