"""From plain text to a masked language model: every choice that a run needs, each with its reason."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clearformer.model.cost import count_cost
from clearformer.tasks.automatic.plain_text import FEWEST, examine_text, run_name
from clearformer.tasks.automatic.plain_text import recognise as is_plain
from clearformer.tasks.model_section import model_config
from clearformer.tasks.task import Automatic, Choice, Chosen
from clearformer.text.doctor.parallel import examine
from clearformer.text.lines import read_lines
from clearformer.text.scripts import script_of
from clearformer.text.word_spans import word_spans

LETTERS = 100_000  # characters that are looked at to tell the script
EXAMPLE = 12  # words: the most that the example has


@dataclass(frozen=True, kw_only=True)
class _BookSize:
    """What suits texts of up to so many characters."""

    up_to: float
    vocab_size: int
    layers: int
    dim: int
    length: int
    dropout: float


_SIZES = (
    _BookSize(up_to=300_000, vocab_size=2_000, layers=2, dim=96, length=64, dropout=0.2),
    _BookSize(up_to=5_000_000, vocab_size=6_000, layers=3, dim=160, length=128, dropout=0.1),
    _BookSize(up_to=math.inf, vocab_size=12_000, layers=4, dim=256, length=128, dropout=0.1),
)


def recognise(files: Sequence[Path]) -> str | None:
    """One file of text that is neither a table nor a list of records."""
    return "running text, for a masked language model" if is_plain(files) else None


def choose(files: Sequence[Path], out: Path) -> Chosen:
    """A recipe for a text; its last tenth is held out, half of it for development and half for the test."""
    [path] = files
    lines = [line for line in read_lines(path) if line.strip()]
    characters = sum(map(len, lines))
    if characters < FEWEST or len(lines) < 20:
        raise ValueError(
            f"{path} has {characters:,} characters in {len(lines):,} lines, but a masked language model needs at least "
            f"{FEWEST:,} in 20; add text, or put each paragraph on its own line"
        )
    cuts = [round(len(lines) * share) for share in (0.9, 0.95)]
    parts = {"train": lines[: cuts[0]], "dev": lines[cuts[0] : cuts[1]], "test": lines[cuts[1] :]}
    folder = out / "data"
    folder.mkdir(parents=True, exist_ok=True)
    for name, part in parts.items():
        (folder / f"{name}.txt").write_text("".join(f"{line}\n" for line in part), encoding="utf-8", newline="\n")
    recipe, choices = from_lines(parts["train"], name=run_name(files))
    held = Choice(
        what="held out",
        value=f"{len(parts['dev']):,} lines for development, {len(parts['test']):,} for the test",
        reason="the end of the text, which training never sees",
    )
    return Chosen(recipe=recipe, choices=[held, *choices], report=examine(path).to_text())


def from_lines(lines: Sequence[str], *, name: str) -> tuple[dict[str, Any], list[Choice]]:
    """A recipe for this training text, and a reason for each choice."""
    characters = sum(map(len, lines))
    size = next(size for size in _SIZES if characters <= size.up_to)
    unspaced = _is_unspaced(lines)
    vocabulary: dict[str, Any] = (
        {"kind": "character", "vocab_size": max(4000, size.vocab_size), "min_frequency": 2}
        if unspaced
        else {"kind": "wordpiece", "vocab_size": size.vocab_size}
    )
    tokens = characters if unspaced else characters / 4
    passes = min(40.0, max(3.0, 20 * math.sqrt(500_000 / tokens)))
    steps = max(200, math.ceil(tokens * passes / 4096 / 100) * 100)
    often = max(25, steps // 5)
    model = {
        "family": "roformer", "dim": size.dim, "hidden_dim": 4 * size.dim, "layers": size.layers,
        "max_len": size.length,
        "attention": {"heads": size.dim // 32}, "norm": {"place": "pre"}, "head": {"bias": True},
        "dropout": {"embedding": size.dropout, "attention": 0.0, "residual": size.dropout},
    }  # fmt: skip
    recipe = {
        "task": "masked-language-model",
        "name": name,
        "data": {
            "train": "data/train.txt", "dev": "data/dev.txt", "test": "data/test.txt", "max_length": size.length,
            "vocabulary": vocabulary,
        },
        "objective": {"whole_words": True},
        "model": model,
        "training": {
            "steps": steps, "save_every": often, "validate_every": often, "log_every": min(50, often),
            "batch_tokens": 4096, "schedule": {"kind": "cosine", "peak": 3e-3, "warmup": 0.05},
            "optimiser": {"kind": "muon", "clip": 1.0},
        },
    }  # fmt: skip
    sizes = {"vocab_size": vocabulary["vocab_size"], "head": {"kind": "language-model"}}
    parameters = count_cost(model_config(model, sizes)).total
    return recipe, _reasons(size, unspaced, parameters, steps, round(passes))


def _reasons(size: _BookSize, unspaced: bool, parameters: int, steps: int, passes: int) -> list[Choice]:
    return [
        Choice(
            what="vocabulary",
            value="characters" if unspaced else f"up to {size.vocab_size:,} word pieces",
            reason="words are not spaced" if unspaced else "so much text shows each piece often enough",
        ),
        Choice(
            what="hidden",
            value="15 of 100 words, with all their pieces",
            reason="as for BERT; a word of which a piece is left would be too easy",
        ),
        Choice(
            what="model",
            value=f"{size.layers} layers, {size.dim} wide, up to {parameters / 1e6:.1f} M parameters",
            reason="as large as this much text can fill and an ordinary computer can train",
        ),
        Choice(what="length", value=f"{size.length} tokens", reason="what the model sees at a time; more costs more"),
        Choice(
            what="steps",
            value=f"{steps:,}",
            reason=f"about {passes} passes, each with other words hidden; the best on the development part is kept",
        ),
    ]


def _is_unspaced(lines: Sequence[str]) -> bool:
    letters = Counter(script_of(letter) for letter in "".join(lines[:2000])[:LETTERS])
    letters.pop(None, None)
    return bool(letters) and letters.most_common(1)[0][0] in ("Han/Kana", "Thai", "Lao", "Khmer", "Myanmar")


def example(run: Path) -> str:
    """A line of the test part, as far as it is short, with its middle word hidden."""
    line = max((line[:200] for line in read_lines(run / "data" / "test.txt")), key=lambda line: len(word_spans(line)))
    words = word_spans(line)[:EXAMPLE]
    begin, end = words[len(words) // 2]
    return f"{line[:begin]}[MASK]{line[end : words[-1][1]]}".strip()


AUTOMATIC = Automatic(recognise=recognise, choose=choose, examine=examine_text, name=run_name, example=example)
