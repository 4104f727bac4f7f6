"""A small classifier of pictures and a small language model that were really trained here, in seconds."""

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from clearformer.run.recipe import parse_recipe
from clearformer.run.train import train

TRAINING = {"steps": 50, "save_every": 50, "validate_every": 50, "log_every": 20, "batch_tokens": 256}


def draw_pictures(folder: Path, count: int, seed: int) -> Path:
    """Two classes that anybody can tell apart: bright at the top, or bright at the bottom."""
    draw = np.random.default_rng(seed)
    for name, row in (("top", 0), ("bottom", 4)):
        (folder / name).mkdir(parents=True, exist_ok=True)
        for number in range(count):
            pixels = draw.integers(0, 60, size=(8, 8), dtype=np.uint8)
            pixels[row : row + 4] += 150
            Image.fromarray(pixels).save(folder / name / f"{number:03}.png")
    return folder


def train_pictures(folder: Path, drawn: Path | None = None) -> Path:
    drawn = drawn or draw_pictures(folder / "train", 40, seed=1)
    values: dict[str, Any] = {
        "task": "picture-classification",
        "data": {"train": drawn.name},
        "model": {
            "family": "vit", "dim": 32, "hidden_dim": 32, "layers": 1, "attention": {"heads": 2}, "front": {"patch": 4},
        },
        "training": {**TRAINING, "schedule": {"kind": "cosine", "peak": 0.005, "warmup": 10}},
    }  # fmt: skip
    return train(parse_recipe(values, "made"), folder / "run", base=folder)


def train_text(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "text.txt").write_text("the dog plays in the snow\nthe cat sleeps in the house\n" * 60)
    values: dict[str, Any] = {
        "task": "language-model",
        "data": {"train": "text.txt", "context": 16, "vocabulary": {"kind": "character", "vocab_size": 300}},
        "model": {
            "family": "llama", "dim": 16, "hidden_dim": 16, "layers": 1, "max_len": 32, "attention": {"heads": 2},
        },
        "training": {**TRAINING, "schedule": {"kind": "cosine", "peak": 0.005, "warmup": 10}},
    }  # fmt: skip
    return train(parse_recipe(values, "made"), folder / "run", base=folder)
