"""A language pair that a tiny model learns in seconds: digits in English words, and the same in figures, backwards."""

import random
from pathlib import Path

WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def pair(generator: random.Random, longest: int = 6) -> tuple[str, str]:
    """For instance ("four one seven", "7 1 4"): order is reversed, so that copying is not enough."""
    digits = [generator.randrange(10) for _ in range(generator.randint(1, longest))]
    return " ".join(WORDS[digit] for digit in digits), " ".join(str(digit) for digit in reversed(digits))


def write_corpus(folder: Path, *, train: int = 600, dev: int = 20) -> None:
    """train.words, train.figures, dev.words, dev.figures; no development sentence occurs in training."""
    folder.mkdir(parents=True, exist_ok=True)
    generator, pairs = random.Random(2017), dict[str, str]()
    while len(pairs) < train + dev:
        pairs.update([pair(generator)])
    rows = list(pairs.items())
    for name, part in (("dev", rows[:dev]), ("train", rows[dev:])):
        for side, index in (("words", 0), ("figures", 1)):
            (folder / f"{name}.{side}").write_text("".join(f"{row[index]}\n" for row in part), encoding="utf-8")


RECIPE = """
task = "translation"
name = "numbers"

[data]
source_language = "en"
train_source = "train.words"
train_target = "train.figures"
dev_source = "dev.words"
dev_target = "dev.figures"

[data.vocabulary]
kind = "bpe"
vocab_size = 320

[model]
preset = "tiny"
dim = 32
hidden_dim = 64
layers = 1
decoder_layers = 1
attention = { heads = 2 }
dropout = { embedding = 0.1, residual = 0.1 }

[training]
steps = 24
save_every = 5
validate_every = 8
log_every = 1
batch_tokens = 400
schedule = { warmup = 0.4, peak = 0.005 }

[use]
beam = 2
max_ratio = 1.0
max_extra = 2

[scoring]
examples = 5
"""


def write_recipe(folder: Path) -> Path:
    """The corpus with a recipe for it."""
    write_corpus(folder)
    path = folder / "numbers.toml"
    path.write_text(RECIPE, encoding="utf-8")
    return path
