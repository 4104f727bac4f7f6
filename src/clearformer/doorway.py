"""The Python door: open a model, use it, train one."""

from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from clearformer import bundle, settings
from clearformer import run as running
from clearformer.recipe import Recipe, find_recipe
from clearformer.translator import Translation, Translator

DEFAULT_MODEL = "en-de"


def load(model: str | Path = DEFAULT_MODEL) -> Translator:
    """Open a model folder, or a model that ships with the package by its name."""
    return Translator(bundle.load(find_model(model)))


def find_model(model: str | Path) -> Path:
    """The folder behind a name: a path, or one of the models that ship."""
    path = Path(model)
    if path.is_dir():
        if not (path / "config.json").exists() and (path / "model" / "config.json").exists():
            raise ValueError(f"{path} is the folder of a run; its model is {path / 'model'}")
        return path
    models = Path(str(resources.files("clearformer") / "models"))
    shipped = sorted(path.name for path in models.iterdir() if path.is_dir()) if models.is_dir() else []
    if str(model) in shipped:
        return models / str(model)
    ships = f"models that ship: {', '.join(shipped)}" if shipped else "none ships yet"
    raise ValueError(
        f"there is no model folder {model} ({ships}); train one with `clearformer train sample`, "
        "then give --model runs/sample/model"
    )


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
