"""From plain text to a language model: every choice that a run needs, each with its reason."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clearformer.data.readers.conll import looks_like_conll
from clearformer.evaluation.exact_match import is_unspaced
from clearformer.model.cost import count_cost
from clearformer.tasks.model_section import model_config
from clearformer.tasks.task import Automatic, Choice, Chosen
from clearformer.text.doctor.parallel import DoctorReport, examine
from clearformer.text.lines import TextFileError, read_lines

ENDINGS = {".txt", ".text", ".md", ".gz", ""}
FEWEST = 10_000  # characters; below this there is nothing to learn from
A_LOOK = 100_000  # characters that show whether there are spaces between words
BY_CHARACTER = 3_000_000  # characters up to which single characters are learned better than pieces


@dataclass(frozen=True, kw_only=True)
class _TextSize:
    """What suits texts of up to so many characters."""

    up_to: float
    layers: int
    dim: int
    context: int
    dropout: float
    peak: float


_SIZES = (
    _TextSize(up_to=200_000, layers=3, dim=128, context=128, dropout=0.3, peak=3e-3),
    _TextSize(up_to=3_000_000, layers=4, dim=192, context=256, dropout=0.2, peak=3e-3),
    _TextSize(up_to=math.inf, layers=6, dim=256, context=256, dropout=0.1, peak=2e-3),
)


def recognise(files: Sequence[Path]) -> str | None:
    """One file of text that is neither a table nor a list of records."""
    if len(files) != 1 or not files[0].is_file():
        return None
    name = files[0].name.removesuffix(".gz")
    if Path(name).suffix.lower() not in ENDINGS or looks_like_conll(files[0]):
        return None
    return "running text, for a language model"


def choose(files: Sequence[Path], out: Path) -> Chosen:
    """A recipe for a text; its last tenth is held out, half of it for development and half for the test."""
    [path] = files
    text = "".join(f"{line}\n" for line in read_lines(path))
    if len(text) < FEWEST:
        raise ValueError(
            f"{path} has {len(text):,} characters, but a language model needs at least {FEWEST:,}; add text"
        )
    parts = _split(text)
    folder = out / "data"
    folder.mkdir(parents=True, exist_ok=True)
    for name, part in parts.items():
        (folder / f"{name}.txt").write_text(part, encoding="utf-8", newline="\n")
    unspaced = is_unspaced([text[:A_LOOK]])
    recipe, choices = from_length(len(parts["train"]), len(set(text)), name=run_name(files), unspaced=unspaced)
    held = Choice(
        what="held out",
        value=f"{len(parts['dev']):,} characters for development, {len(parts['test']):,} for the test",
        reason="the end of the text, which training never sees",
    )
    return Chosen(recipe=recipe, choices=[held, *choices], report=examine(path).to_text())


def run_name(files: Sequence[Path]) -> str:
    """book.txt makes book."""
    return files[0].name.partition(".")[0] or "text"


def example(run: Path) -> str:
    """The beginning of the test part."""
    return next(line for line in read_lines(run / "data" / "test.txt") if line.strip())[:40]


def _split(text: str) -> dict[str, str]:
    cuts = [_line_end(text, round(len(text) * share)) for share in (0.9, 0.95)]
    return {"train": text[: cuts[0]], "dev": text[cuts[0] : cuts[1]], "test": text[cuts[1] :]}


def _line_end(text: str, place: int) -> int:
    """Behind the line that stands there, so that no part begins inside a word; the place itself in an endless line."""
    end = text.find("\n", place, place + len(text) // 100)
    return place if end < 0 else end + 1


def from_length(
    characters: int, alphabet: int, *, name: str, unspaced: bool = False
) -> tuple[dict[str, Any], list[Choice]]:
    """A recipe for so much text, and a reason for each choice. unspaced: its script has no spaces between words."""
    size = next(size for size in _SIZES if characters <= size.up_to)
    single = characters <= BY_CHARACTER
    vocabulary: dict[str, Any] = (
        {"kind": "character", "vocab_size": max(512, alphabet + 400), "min_frequency": 1}
        if single
        else {"kind": "bpe", "vocab_size": 8000}
    )
    tokens = characters if single else round(characters / (1.5 if unspaced else 4))  # about; how long pieces are
    batch = 8192 if size.dim <= 192 else 4096
    passes = min(40.0, max(3.0, 12 * math.sqrt(1_000_000 / tokens)))
    steps = max(200, math.ceil(tokens * passes / batch / 100) * 100)
    often = max(25, steps // 10)
    model = {
        "family": "llama",
        "dim": size.dim,
        "hidden_dim": 8 * size.dim // 3 // 32 * 32,
        "layers": size.layers,
        "max_len": size.context,
        "attention": {"heads": size.dim // 32},
        "embedding": {"tie": "all"},
        "dropout": {"embedding": size.dropout, "residual": size.dropout},
    }
    recipe: dict[str, Any] = {
        "task": "language-model",
        "name": name,
        "data": {
            "train": "data/train.txt",
            "dev": "data/dev.txt",
            "test": "data/test.txt",
            "context": size.context,
            "vocabulary": vocabulary,
        },
        "model": model,
        "training": {
            "steps": steps,
            "save_every": often,
            "validate_every": often,
            "log_every": min(50, often),
            "batch_tokens": batch,
            "schedule": {"kind": "cosine", "peak": size.peak, "warmup": 0.05},
            "optimiser": {"kind": "muon", "clip": 1.0},
        },
        "use": {"temperature": 0.8},
    }
    parameters = count_cost(model_config(model, {"vocab_size": int(vocabulary["vocab_size"])})).total
    return recipe, _reasons(size, vocabulary, parameters, steps, round(passes))


def _reasons(size: _TextSize, vocabulary: dict[str, Any], parameters: int, steps: int, passes: int) -> list[Choice]:
    single = vocabulary["kind"] == "character"
    return [
        Choice(
            what="vocabulary",
            value="single characters" if single else f"up to {vocabulary['vocab_size']:,} pieces (BPE)",
            reason="little text shows characters often enough, and pieces too seldom"
            if single
            else "so much text shows each piece often enough",
        ),
        Choice(
            what="model",
            value=f"{size.layers} layers, {size.dim} wide, up to {parameters / 1e6:.1f} M parameters",
            reason="as large as this much text can fill and an ordinary computer can train",
        ),
        Choice(what="context", value=f"{size.context} tokens", reason="what the model sees at a time; more costs more"),
        Choice(what="dropout", value=f"{size.dropout}", reason="the more, the less text there is"),
        Choice(
            what="steps", value=f"{steps:,}", reason=f"about {passes} passes; the best on the development part is kept"
        ),
    ]


def examine_text(files: Sequence[Path]) -> DoctorReport:
    """What is wrong with a text file."""
    if not files[0].is_file():
        raise TextFileError(f"{files[0]} does not exist or is not a file: check the name")
    return examine(files[0])


AUTOMATIC = Automatic(recognise=recognise, choose=choose, examine=examine_text, name=run_name, example=example)
