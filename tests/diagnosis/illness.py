"""A made language that a tiny model learns in seconds, and runs on it."""

import random
from pathlib import Path
from typing import Any

from clearformer.foundation import settings
from clearformer.run.recipe import parse_recipe
from clearformer.run.train import Watchers, train

WORDS = {
    "one": "eins", "two": "zwei", "three": "drei", "four": "vier", "five": "fünf", "six": "sechs",
    "red": "rot", "blue": "blau", "green": "grün", "big": "groß", "small": "klein", "old": "alt",
    "dog": "Hund", "cat": "Katze", "bird": "Vogel", "horse": "Pferd", "tree": "Baum", "house": "Haus",
}  # fmt: skip
SIDES = (("source", "en"), ("target", "de"))
Pairs = list[tuple[str, str]]

TINY: dict[str, Any] = {
    "task": "translation",
    "data": {"vocabulary": {"kind": "bpe", "vocab_size": 420}, "source_language": "en", "target_language": "de"},
    "model": {
        "preset": "tiny",
        "dim": 32,
        "hidden_dim": 64,
        "layers": 1,
        "decoder_layers": 1,
        "norm": {"place": "pre"},
        "dropout": {"embedding": 0.0, "residual": 0.0},
    },
    "training": {
        "steps": 400,
        "save_every": 50,
        "validate_every": 50,
        "log_every": 10,
        "batch_tokens": 512,
        "schedule": {"kind": "cosine", "peak": 0.01, "warmup": 30},
        "optimiser": {"clip": 1.0},
    },
    "use": {"beam": 1, "max_ratio": 2.0, "max_extra": 8},
    "scoring": {"examples": 10},
}


def sentences(count: int, seed: int = 1) -> Pairs:
    """Two to five different words in any order, translated word by word; no sentence comes twice."""
    draw, found = random.Random(seed), {}
    known = list(WORDS)
    while len(found) < count:
        chosen = draw.sample(known, k=draw.randint(2, 5))
        found[" ".join(chosen)] = " ".join(WORDS[word] for word in chosen)
    return list(found.items())


def write(folder: Path, name: str, pairs: Pairs) -> tuple[Path, Path]:
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / f"{name}.en", folder / f"{name}.de"
    for side, path in enumerate(paths):
        path.write_text("".join(f"{pair[side]}\n" for pair in pairs), encoding="utf-8")
    return paths


def make_run(out: Path, pairs: Pairs, dev: Pairs, *, watchers: Watchers | None = None, **changes: object) -> Path:
    """Train on made pairs; changes are laid over TINY by dotted key, with __ for the dots."""
    write(out / "text", "train", pairs)
    write(out / "text", "dev", dev)
    files = {f"{part}_{side}": f"text/{part}.{code}" for part in ("train", "dev") for side, code in SIDES}
    values = {**TINY, "name": "made", "data": {**TINY["data"], **files}}
    for key, value in changes.items():
        values = settings.lay(values, key.replace("__", "."), value)
    train(parse_recipe(values, "made"), out, base=out, watchers=watchers)
    return out
