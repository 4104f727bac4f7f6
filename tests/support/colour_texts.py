"""A made task whose answer hangs on one word: the class is the colour that stands among fillers, or "none".

With two colours alone a model may learn to find one of them and take the other for granted; then no word decides.
"""

import random
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

FILLERS = (
    "a", "the", "man", "dog", "house", "walks", "sees", "old", "small", "garden", "with", "and", "under", "near", "two",
    "children", "play", "ball", "in", "snow",
)  # fmt: skip


def colour_texts(count: int, seed: int) -> list[tuple[str, str]]:
    """Texts of 3 to 12 words with their class."""
    draw = random.Random(seed)
    made = []
    for number in range(count):
        words = draw.choices(FILLERS, k=draw.randint(3, 11))
        colour = ("red", "blue", "none")[number % 3]
        if colour != "none":
            words.insert(draw.randrange(len(words) + 1), colour)
        made.append((" ".join(words), colour))
    return made


@cache
def colour_model() -> Path:
    """A model folder, trained once per test run."""
    from clearformer.run.recipe import parse_recipe
    from clearformer.run.train import train

    folder = Path(tempfile.mkdtemp(prefix="colours-"))
    rows = [f"{label}\t{text}" for text, label in colour_texts(600, seed=1)]
    (folder / "train.tsv").write_text("\n".join(["label\ttext", *rows]) + "\n", encoding="utf-8")
    values: dict[str, Any] = {
        "task": "text-classification",
        "data": {"train": "train.tsv", "max_length": 24, "vocabulary": {"kind": "wordpiece", "vocab_size": 200}},
        "model": {
            "family": "bert", "dim": 32, "hidden_dim": 64, "layers": 2, "max_len": 24, "attention": {"heads": 2},
            "head": {"pool": "mean"},
        },
        "training": {
            "steps": 250, "save_every": 250, "validate_every": 125, "log_every": 125, "batch_tokens": 400,
            "schedule": {"kind": "cosine", "peak": 0.004, "warmup": 0.1},
        },
    }  # fmt: skip
    return train(parse_recipe(values, "colours"), folder / "run", base=folder)
