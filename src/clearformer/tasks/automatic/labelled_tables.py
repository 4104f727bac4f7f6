"""From a table of labelled texts to a classifier: every choice that a run needs, each with its reason."""

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clearformer.data.class_split import hold_out_by_class
from clearformer.data.readers.labelled import (
    LabelColumns,
    LabelledError,
    LabelledText,
    find_columns,
    read_labelled,
)
from clearformer.model.cost import count_cost
from clearformer.tasks.automatic.label_doctor import LabelReport, examine_labels
from clearformer.tasks.model_section import model_config
from clearformer.tasks.task import Automatic, Choice, Chosen
from clearformer.text.scripts import script_of

ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson")
FEWEST = 20  # texts; below this there is nothing to learn from and nothing to hold out
HELD_OUT = 0.1  # of each class, for development and for the test
RARE = 0.5  # a class with less than this share of what it would have if all were alike


@dataclass(frozen=True, kw_only=True)
class _TableSize:
    """What suits tables of up to so many texts."""

    up_to: float
    vocab_size: int
    layers: int
    dim: int
    dropout: float
    peak: float


_SIZES = (
    _TableSize(up_to=3_000, vocab_size=2_000, layers=2, dim=96, dropout=0.3, peak=2e-3),
    _TableSize(up_to=30_000, vocab_size=6_000, layers=3, dim=128, dropout=0.3, peak=2e-3),
    _TableSize(up_to=math.inf, vocab_size=8_000, layers=3, dim=160, dropout=0.2, peak=2e-3),
)


def recognise(files: Sequence[Path]) -> str | None:
    """One CSV, TSV or JSON-lines file with a text and a label in each row."""
    if len(files) != 1 or not files[0].is_file():
        return None
    name = files[0].name.lower().removesuffix(".gz")
    if not name.endswith(ENDINGS):
        return None
    found = find_columns(files[0])
    pair = f" and {found.second}" if found.second else ""
    return f"texts with labels: text in column {found.text}{pair}, label in column {found.label}"


def examine(files: Sequence[Path]) -> LabelReport:
    """What is wrong with a table of labelled texts."""
    columns = find_columns(files[0])
    return examine_labels(files[0], read_labelled(files[0], columns))


def choose(files: Sequence[Path], out: Path) -> Chosen:
    """A recipe for a table; a tenth of each class is held out for development, and a tenth for the test."""
    [path] = files
    columns = find_columns(path)
    rows = list(read_labelled(path, columns))
    if len(rows) < FEWEST:
        raise LabelledError(f"{path} has {len(rows)} texts, but at least {FEWEST} are needed; add some")
    report = examine_labels(path, rows)
    if worst := next((finding for finding in report.findings if finding.fatal), None):
        raise LabelledError(f"{worst.place}: {worst.detail}")
    parts = _split(rows)
    _write(parts, out / "data", columns)
    recipe, choices = from_rows(parts["train"], name=run_name(files), pairs=columns.second is not None)
    held = Choice(
        what="held out",
        value=f"{len(parts['dev']):,} texts for development, {len(parts['test']):,} for the test",
        reason="a tenth of each class; no text is in two parts",
    )
    counts = Counter(row.label for row in rows)
    classes = Choice(
        what="classes",
        value=", ".join(f"{label} ({count:,})" for label, count in counts.most_common(10)),
        reason="rare classes count for more while learning" if _unbalanced(counts) else "about as many of each",
    )
    return Chosen(recipe=recipe, choices=[held, classes, *choices], report=report.to_text())


def _unbalanced(counts: Counter[str]) -> bool:
    return min(counts.values()) < RARE * counts.total() / len(counts)


def _split(rows: Sequence[LabelledText]) -> dict[str, list[LabelledText]]:
    keys = [" ".join(f"{row.text}\n{row.second or ''}".casefold().split()) for row in rows]
    held = hold_out_by_class(keys, [row.label for row in rows], share=2 * HELD_OUT)
    places = [place for place, out in enumerate(held) if out]
    dev = hold_out_by_class([keys[place] for place in places], [rows[place].label for place in places], share=0.5)
    in_dev = {place for place, out in zip(places, dev, strict=True) if out}
    return {
        "train": [row for row, out in zip(rows, held, strict=True) if not out],
        "dev": [rows[place] for place in places if place in in_dev],
        "test": [rows[place] for place in places if place not in in_dev],
    }


def _write(parts: dict[str, list[LabelledText]], folder: Path, columns: LabelColumns) -> None:
    """JSON lines, which keep every character of a text."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in parts.items():
        records = (
            {"text": row.text, **({} if row.second is None else {"second": row.second}), "label": row.label}
            for row in rows
        )
        lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8", newline="\n")


def from_rows(rows: Sequence[LabelledText], *, name: str, pairs: bool) -> tuple[dict[str, Any], list[Choice]]:
    """A recipe for these training texts, and a reason for each choice."""
    size = next(size for size in _SIZES if len(rows) <= size.up_to)
    chinese = _is_unspaced(rows)
    characters = sorted(len(row.text) + len(row.second or "") for row in rows)
    usual = characters[int(0.98 * (len(characters) - 1))]
    length = min(512, max(32, 8 * math.ceil((usual if chinese else usual / 3) / 8)))
    tokens = sum(min(length, (count if chinese else count / 4) + 2) for count in characters)
    vocabulary = (
        {"kind": "character", "vocab_size": max(4000, size.vocab_size), "min_frequency": 2}
        if chinese
        else {"kind": "wordpiece", "vocab_size": size.vocab_size}
    )
    batch = 2048 if tokens > 400_000 else 1024
    passes = min(20.0, max(3.0, 10 * math.sqrt(10_000 / len(rows))))
    steps = max(200, math.ceil(tokens * passes / batch / 50) * 50)
    often = max(25, steps // 10)
    balance = 0.5 if _unbalanced(Counter(row.label for row in rows)) else 0.0
    model = {
        "family": "bert",
        "dim": size.dim,
        "hidden_dim": 2 * size.dim,
        "layers": size.layers,
        "max_len": length,
        "attention": {"heads": size.dim // 32},
        "norm": {"place": "pre"},
        "head": {"pool": "mean", "dropout": 0.2},
        "dropout": {"embedding": size.dropout, "residual": size.dropout},
    }
    data = {
        "train": "data/train.jsonl", "dev": "data/dev.jsonl", "test": "data/test.jsonl",
        "text": "text", "label": "label", **({"second": "second"} if pairs else {}),
        "max_length": length, "word_dropout": 0.1, "vocabulary": vocabulary,
    }  # fmt: skip
    recipe = {
        "task": "text-classification",
        "name": name,
        "data": data,
        "model": model,
        "objective": {"smoothing": 0.1, "balance": balance},
        "training": {
            "steps": steps, "save_every": often, "validate_every": often, "log_every": min(50, often),
            "batch_tokens": batch, "schedule": {"kind": "cosine", "peak": size.peak, "warmup": 0.1},
            "optimiser": {"kind": "adam", "clip": 1.0, "decay": 0.05},
        },
    }  # fmt: skip
    head = {"kind": "class", "labels": len({row.label for row in rows})}
    sizes = {"vocab_size": int(str(vocabulary["vocab_size"])), "head": head}
    parameters = count_cost(model_config(model, sizes)).total
    return recipe, [
        Choice(
            what="vocabulary",
            value="characters" if chinese else f"{size.vocab_size:,} word pieces",
            reason="words are not spaced" if chinese else f"{len(rows):,} texts show each piece often enough",
        ),
        Choice(what="length", value=f"{length} tokens", reason="98 of 100 texts fit; longer ones are read in windows"),
        Choice(
            what="model",
            value=f"{size.layers} layers, {size.dim} wide, {parameters / 1e6:.1f} M parameters, from scratch",
            reason="as large as this much text can fill and an ordinary computer can train",
        ),
        Choice(
            what="steps",
            value=f"{steps:,}",
            reason=f"about {passes:.0f} passes over the texts; the best on the development part is kept",
        ),
    ]


def _is_unspaced(rows: Sequence[LabelledText]) -> bool:
    letters = Counter(script_of(letter) for row in rows[:2000] for letter in row.text)
    letters.pop(None, None)
    return bool(letters) and letters.most_common(1)[0][0] in ("Han/Kana", "Thai", "Lao", "Khmer", "Myanmar")


def run_name(files: Sequence[Path]) -> str:
    """reviews.csv makes reviews."""
    return files[0].name.partition(".")[0] or "texts"


def example(run: Path) -> str:
    """The shortest text of the test part."""
    lines = (run / "data" / "test.jsonl").read_text(encoding="utf-8").splitlines()
    return str(min((json.loads(line)["text"] for line in lines), key=len))


AUTOMATIC = Automatic(recognise=recognise, choose=choose, examine=examine, name=run_name, example=example)
