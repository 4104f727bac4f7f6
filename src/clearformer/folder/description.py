"""A model folder without its weights: where it is, what it says of itself, and its vocabularies.

No tensor is touched here, so that tokenizing and the engine that needs no PyTorch start at once. `bundle` has the rest.
"""

import json
from importlib import resources
from pathlib import Path
from typing import Any

from clearformer.foundation import storage
from clearformer.text.tokenizer import Tokenizer

FORMAT = 1
ENGINE_LAYOUT = 1  # of what is written for ctranslate2; older folders are made anew
DEFAULT_MODEL = "en-de"


def find_model(model: str | Path) -> Path:
    """The folder behind a name: a path, or one of the models that ship."""
    path = Path(model)
    if path.is_dir():
        if not (path / "config.json").exists() and (path / "model" / "config.json").exists():
            return path / "model"  # the folder of a run
        return path
    models = shipped_models()
    shipped = sorted(path.name for path in models.iterdir() if path.is_dir()) if models.is_dir() else []
    if str(model) in shipped:
        return models / str(model)
    ships = f"models that ship: {', '.join(shipped)}" if shipped else "none ships yet"
    raise ValueError(
        f"there is no model folder {model} ({ships}); train one with `clearformer train sample`, "
        "then give --model runs/sample/model"
    )


def shipped_models() -> Path:
    """The folder of the package's own models, which nobody writes to."""
    return Path(str(resources.files("clearformer") / "models"))


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
    if not isinstance(described.get("provenance", {}), dict):
        raise storage.DamagedError(f"{path} has a provenance that is no table of facts")
    if described.get("format") != FORMAT:
        raise ValueError(
            f"{path} has format {described.get('format')}, but this version reads format {FORMAT}; update clearformer"
        )
    return described


def fingerprint(folder: Path) -> str:
    """What a model folder holds, as one word: the checksum of its files' checksums."""
    return storage.sha256(folder / storage.MANIFEST)


def load_tokenizer(folder: Path, name: str, described: dict[str, Any]) -> Tokenizer | None:
    """The vocabulary called "tokenizer" or "target_tokenizer", if the folder has it."""
    facts = described.get(name)
    return None if facts is None else Tokenizer.load(folder / f"{name}.json", facts)


def load_tokenizers(folder: Path) -> tuple[Tokenizer, Tokenizer]:
    """The vocabularies of a model folder, source and target, without its weights."""
    described = read_description(folder)
    source = load_tokenizer(folder, "tokenizer", described)
    if source is None:
        raise ValueError(f"{folder} has no tokenizer, so it cannot read text")
    return source, load_tokenizer(folder, "target_tokenizer", described) or source
