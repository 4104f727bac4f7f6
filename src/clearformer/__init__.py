"""Clearformer: the whole Transformer in one small package.

The names below are the doorway; they are looked up when first used, so importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clearformer.api import build_index, import_checkpoint, load, open_index, train, translate
    from clearformer.folder.bundle import Bundle
    from clearformer.folder.bundle import save as save
    from clearformer.model.build import build
    from clearformer.model.config import ModelConfig
    from clearformer.model.presets import preset
    from clearformer.model.trace import trace
    from clearformer.text.tokenizer import Tokenizer

__version__ = "0.1.0"
__all__ = [
    "Bundle",
    "ModelConfig",
    "Tokenizer",
    "build",
    "build_index",
    "import_checkpoint",
    "load",
    "open_index",
    "preset",
    "save",
    "trace",
    "train",
    "translate",
]

# Before anybody multiplies anything: it is no more than an environment variable.
import_module("clearformer.foundation.machine").sum_alike_in_any_batch()

_HOMES = {
    "Bundle": "folder.bundle",
    "ModelConfig": "model.config",
    "Tokenizer": "text.tokenizer",
    "build": "model.build",
    "build_index": "api",
    "import_checkpoint": "api",
    "load": "api",
    "open_index": "api",
    "preset": "model.presets",
    "save": "folder.bundle",
    "trace": "model.trace",
    "train": "api",
    "translate": "api",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"clearformer has no {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(f"clearformer.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
