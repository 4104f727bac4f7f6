"""A small encoder, and files for it to look for things in."""

from pathlib import Path

import torch

from clearformer.interop.importer import import_checkpoint
from interop.folders import bert_folder

LINES = ["two dogs play", "the snow .", "in the snow dogs play .", "the dog", "two"]


def encoder(folder: Path, seed: int = 0) -> Path:
    """A random BERT of a few words as a model folder."""
    torch.manual_seed(seed)
    bert_folder(folder / "published")
    import_checkpoint(folder / "published", folder / "ours")
    return folder / "ours"


def write_lines(folder: Path) -> Path:
    """A file of five lines."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "lines.txt"
    path.write_text("\n".join(LINES) + "\n")
    return path
