"""Small trained models in formats of their own: llama2.c's two files, and arrays with a description beside them."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clearformer.interop.importer import Imported


def recognise(folder: Path) -> "Callable[[Path], Imported] | None":
    """The reader for a folder, if it is of one of these formats."""
    return None
