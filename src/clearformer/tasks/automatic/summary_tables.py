"""From a table of texts and summaries to a model that summarises: every choice of a run, each with its reason."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clearformer.data.class_split import hold_out_by_class
from clearformer.data.near_copies import near_copies
from clearformer.data.readers.summary_pairs import SummaryPair, find_summary_columns, read_summaries
from clearformer.data.readers.tables import LabelledError
from clearformer.evaluation.exact_match import is_unspaced
from clearformer.model.cost import count_cost
from clearformer.tasks.automatic.summary_doctor import SummaryReport, examine_summaries
from clearformer.tasks.model_section import model_config
from clearformer.tasks.task import Automatic, Choice, Chosen

ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson")
HELD_OUT, MANY = 0.1, 1000  # of the texts, and at the most so many, for development and for the test
LONGEST = 512  # tokens of a text that are read at a time, at the most
BATCH = 4096  # tokens


@dataclass(frozen=True, kw_only=True)
class _Scale:
    """What suits so many texts."""

    up_to: float
    vocab_size: int
    layers: int
    dim: int
    dropout: float


_SCALES = (
    _Scale(up_to=3_000, vocab_size=3_000, layers=2, dim=128, dropout=0.3),
    _Scale(up_to=100_000, vocab_size=8_000, layers=3, dim=192, dropout=0.2),
    _Scale(up_to=math.inf, vocab_size=16_000, layers=4, dim=256, dropout=0.1),
)


def recognise(files: Sequence[Path]) -> str | None:
    """One CSV, TSV or JSON-lines file with a text and something much shorter, different in most rows, beside it."""
    if len(files) != 1 or not files[0].is_file():
        return None
    if not files[0].name.lower().removesuffix(".gz").endswith(ENDINGS):
        return None
    try:
        columns = find_summary_columns(files[0])
    except LabelledError:  # whoever can read this file says what is wrong with it
        return None
    return None if columns is None else f"texts with summaries: {columns.shown()}"


def examine(files: Sequence[Path]) -> SummaryReport:
    """What is wrong with a table of texts and summaries."""
    return _examined(files[0])[1]


def _examined(path: Path) -> tuple[list[SummaryPair], SummaryReport]:
    columns = find_summary_columns(path)
    if columns is None:
        raise LabelledError(
            f"{path} has no column of texts with shorter summaries beside them; call the columns text and summary"
        )
    return examine_summaries(path, list(read_summaries(path, columns)))


def choose(files: Sequence[Path], out: Path) -> Chosen:
    """A recipe; a tenth of the texts is held out for development, a tenth for the test, and near copies of both."""
    rows, report = _examined(files[0])
    if report.fatal:
        raise LabelledError(report.findings["too little to learn from"][0])
    parts, removed = divide(rows)
    _write(parts, out / "data")
    recipe, choices = from_pairs(parts["train"], name=run_name(files))
    held = Choice(
        what="held out",
        value=f"{len(parts['dev']):,} texts for development, {len(parts['test']):,} for the test",
        reason=f"no text is in two parts; {removed:,} near copies of these are not learned from",
    )
    return Chosen(recipe=recipe, choices=[held, *choices], report=report.to_text())


def divide(rows: Sequence[SummaryPair]) -> tuple[dict[str, list[SummaryPair]], int]:
    """Three parts, and how many texts are in none because they are near copies of what is held out."""
    share = min(HELD_OUT, MANY / len(rows))
    keys = [row.text for row in rows]
    held = hold_out_by_class(keys, [""] * len(rows), share=2 * share)
    aside = [row for row, out in zip(rows, held, strict=True) if out]
    rest = [row for row, out in zip(rows, held, strict=True) if not out]
    near = near_copies([row.text for row in rest], [row.text for row in aside])
    train = [row for row, known in zip(rest, near, strict=True) if not known]
    dev = hold_out_by_class([row.text for row in aside], [""] * len(aside), share=0.5)
    parts = {
        "train": train or rest,
        "dev": [row for row, first in zip(aside, dev, strict=True) if first],
        "test": [row for row, first in zip(aside, dev, strict=True) if not first],
    }
    return parts, len(rest) - len(parts["train"])


def _write(parts: dict[str, list[SummaryPair]], folder: Path) -> None:
    """JSON lines, which keep every character of a text, with the place in the file that somebody gave."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in parts.items():
        records = ({"text": row.text, "summary": row.summary, "origin": row.place} for row in rows)
        lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8", newline="\n")


def from_pairs(rows: Sequence[SummaryPair], *, name: str) -> tuple[dict[str, Any], list[Choice]]:
    """A recipe for these training texts, and a reason for each choice."""
    scale = next(scale for scale in _SCALES if len(rows) <= scale.up_to)
    unspaced = is_unspaced([row.text for row in rows[:500]])
    per_token = 1.5 if unspaced else 4.0  # characters
    length = _length([len(row.text) / per_token for row in rows], least=32, most=LONGEST)
    longest = _length([len(row.summary) / per_token for row in rows], least=16, most=LONGEST)
    tokens = sum(min(length, len(row.text) / per_token + 1) for row in rows)
    passes = min(40.0, max(4.0, 12 * math.sqrt(15_000 / len(rows))))
    steps = max(200, math.ceil(tokens * passes / BATCH / 100) * 100)
    often = max(25, steps // 10)
    model: dict[str, Any] = {
        "preset": "tiny", "dim": scale.dim, "hidden_dim": 4 * scale.dim, "layers": scale.layers,
        "decoder_layers": scale.layers, "norm": {"place": "pre"},
        "dropout": {"embedding": scale.dropout, "residual": scale.dropout},
    }  # fmt: skip
    recipe: dict[str, Any] = {
        "task": "summarization",
        "name": name,
        "data": {
            "train": "data/train.jsonl", "dev": "data/dev.jsonl", "test": "data/test.jsonl",
            "text": "text", "summary": "summary", "max_length": length, "max_summary": longest,
            "vocabulary": {"kind": "bpe", "vocab_size": scale.vocab_size, "prefix_space": not unspaced},
        },
        "model": model,
        "training": {
            "steps": steps, "save_every": often, "validate_every": often, "log_every": min(50, often),
            "batch_tokens": BATCH, "schedule": {"kind": "cosine", "peak": 1e-3, "warmup": 0.1},
            "optimiser": {"kind": "adam", "clip": 1.0, "decay": 0.01},
        },
        "scoring": {"examples": 200},
        "use": {"max_tokens": longest},
    }  # fmt: skip
    parameters = count_cost(model_config(model, {"vocab_size": scale.vocab_size})).total
    return recipe, [
        Choice(
            what="vocabulary",
            value=f"up to {scale.vocab_size:,} pieces (BPE) for texts and summaries",
            reason="one for both, so that names of the text can be written in the summary",
        ),
        Choice(what="length", value=f"{length} tokens of a text, {longest} of a summary",
               reason="most fit; of a longer text the beginning is learned from, and in use each part is summarised"),
        Choice(
            what="model",
            value=f"{scale.layers}+{scale.layers} layers, {scale.dim} wide, up to {parameters / 1e6:.1f} M parameters",
            reason="as large as this much text can fill and an ordinary computer can train",
        ),
        Choice(what="steps", value=f"{steps:,}",
               reason=f"about {passes:.0f} passes over the texts; the best on the development part is kept"),
    ]  # fmt: skip


def _length(tokens: Sequence[float], *, least: int, most: int) -> int:
    """Where nine texts of ten end, in steps of 16."""
    usual = sorted(tokens)[int(0.9 * (len(tokens) - 1))]
    return min(most, max(least, 16 * math.ceil(1.2 * usual / 16)))


def run_name(files: Sequence[Path]) -> str:
    """mails.csv makes mails."""
    return files[0].name.partition(".")[0] or "summaries"


def example(run: Path) -> str:
    """The shortest text of the test part, in one line."""
    lines = (run / "data" / "test.jsonl").read_text(encoding="utf-8").splitlines()
    return " ".join(str(min((json.loads(line)["text"] for line in lines), key=len)).split())


AUTOMATIC = Automatic(recognise=recognise, choose=choose, examine=examine, name=run_name, example=example)
