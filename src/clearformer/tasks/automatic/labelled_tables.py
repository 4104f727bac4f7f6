"""From a table of labelled texts to a classifier: every choice that a run needs, each with its reason."""

import json
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clearformer.data.class_split import hold_out_by_class
from clearformer.data.readers.conll import looks_like_conll
from clearformer.data.readers.label_cells import LabelKind
from clearformer.data.readers.labelled import LabelledText, find_columns, read_labelled
from clearformer.data.readers.tables import LabelledError
from clearformer.evaluation.accuracy import is_uneven
from clearformer.tasks.automatic.encoder_recipe import EncoderPlan, EncoderSize, encoder_recipe
from clearformer.tasks.automatic.fine_tuning import published_start
from clearformer.tasks.automatic.label_doctor import LabelReport, examine_labels, examine_table
from clearformer.tasks.label_goals import labels_of
from clearformer.tasks.task import Automatic, Choice, Chosen
from clearformer.text.scripts import script_of

ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson")
FEWEST = 20  # texts; below this there is nothing to learn from and nothing to hold out
HELD_OUT = 0.1  # of each class, for development and for the test
BALANCE = 0.5  # where classes are uneven: between counting texts alike and counting classes alike


_SIZES = (
    EncoderSize(up_to=3_000, vocab_size=2_000, layers=2, dim=96, dropout=0.3, peak=2e-3),
    EncoderSize(up_to=30_000, vocab_size=6_000, layers=3, dim=128, dropout=0.3, peak=2e-3),
    EncoderSize(up_to=math.inf, vocab_size=8_000, layers=3, dim=160, dropout=0.2, peak=2e-3),
)


def recognise(files: Sequence[Path]) -> str | None:
    """One CSV, TSV or JSON-lines file with a text and a label in each row."""
    if len(files) != 1 or not files[0].is_file():
        return None
    name = files[0].name.lower().removesuffix(".gz")
    if not name.endswith(ENDINGS) or (name.endswith((".tsv", ".csv")) and looks_like_conll(files[0])):
        return None
    return f"texts with labels: {find_columns(files[0]).shown()}"


def examine(files: Sequence[Path]) -> LabelReport:
    """What is wrong with a table of labelled texts."""
    return examine_table(files[0])


def choose(files: Sequence[Path], out: Path) -> Chosen:
    """A recipe for a table; a tenth of each class is held out for development, and a tenth for the test."""
    [path] = files
    columns = find_columns(path)
    rows = list(read_labelled(path, columns))
    if len(rows) < FEWEST:
        raise LabelledError(f"{path} has {len(rows)} texts, but at least {FEWEST} are needed; add some")
    report = examine_labels(path, rows, columns.kind)
    if worst := next((finding for finding in report.findings if finding.fatal), None):
        raise LabelledError(f"{worst.place}: {worst.detail}")
    parts = _split(rows, columns.kind)
    if not all(parts.values()):
        told = f"{path} has only {len({_key(row) for row in rows})} different texts, too few to hold some out"
        raise LabelledError(f"{told}; add some")
    _write(parts, out / "data")
    recipe, choices = from_rows(
        parts["train"], name=run_name(files), pairs=columns.second is not None, kind=columns.kind
    )
    held = Choice(
        what="held out",
        value=f"{len(parts['dev']):,} texts for development, {len(parts['test']):,} for the test",
        reason=f"a tenth {'of all' if columns.kind == 'number' else 'of each class'}; no text is in two parts",
    )
    said = [held, _goal(rows, columns.kind), *choices]
    start = published_start(row.text for row in parts["train"])
    return Chosen(recipe=recipe, choices=said, report=report.to_text(), start=start)


def _goal(rows: Sequence[LabelledText], kind: LabelKind) -> Choice:
    """What is learned, and what is done for rare classes."""
    if kind == "number":
        numbers = sorted(float(row.label) for row in rows)
        return Choice(
            what="goal",
            value=f"a number between {numbers[0]:g} and {numbers[-1]:g}",
            reason="the label column holds numbers of many values (data.kind=one takes them for classes)",
        )
    counts = Counter(label for row in rows for label in labels_of(row, kind))
    uneven = "rare classes count for more while learning, and macro F1 chooses the checkpoint"
    return Choice(
        what="classes" if kind == "one" else "labels, several per text",
        value=", ".join(f"{label} ({count:,})" for label, count in counts.most_common(10))
        + (f" and {len(counts) - 10} more" if len(counts) > 10 else ""),
        reason=uneven if is_uneven(counts) else "about as many of each",
    )


def _split(rows: Sequence[LabelledText], kind: LabelKind) -> dict[str, list[LabelledText]]:
    keys = [_key(row) for row in rows]
    classes = ["" if kind == "number" else row.label for row in rows]
    if kind == "several":  # a set that stands alone could never be held out; its rarest label decides
        often = Counter(label for row in rows for label in labels_of(row, kind))
        classes = [min(labels_of(row, kind), key=often.__getitem__, default="") for row in rows]
    held = hold_out_by_class(keys, classes, share=2 * HELD_OUT)
    places = [place for place, out in enumerate(held) if out]
    dev = hold_out_by_class([keys[place] for place in places], [classes[place] for place in places], share=0.5)
    in_dev = {place for place, out in zip(places, dev, strict=True) if out}
    return {
        "train": [row for row, out in zip(rows, held, strict=True) if not out],
        "dev": [rows[place] for place in places if place in in_dev],
        "test": [rows[place] for place in places if place not in in_dev],
    }


def _key(row: LabelledText) -> str:
    return " ".join(f"{row.text}\n{row.second or ''}".casefold().split())


def _write(parts: dict[str, list[LabelledText]], folder: Path) -> None:
    """JSON lines, which keep every character of a text, with the place in the file that somebody gave."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in parts.items():
        records = (
            {
                "text": row.text,
                **({} if row.second is None else {"second": row.second}),
                "label": row.label,
                "origin": row.place,
            }
            for row in rows
        )
        lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8", newline="\n")


def from_rows(
    rows: Sequence[LabelledText], *, name: str, pairs: bool, kind: LabelKind = "one"
) -> tuple[dict[str, Any], list[Choice]]:
    """A recipe for these training texts, and a reason for each choice."""
    size = next(size for size in _SIZES if len(rows) <= size.up_to)
    unspaced = _is_unspaced(rows)
    characters = sorted(len(row.text) + len(row.second or "") for row in rows)
    usual = characters[int(0.98 * (len(characters) - 1))]
    length = min(512, max(32, 8 * math.ceil((usual if unspaced else usual / 3) / 8)))
    tokens = sum(min(length, (count if unspaced else count / 4) + 2) for count in characters)
    batch = 2048 if tokens > 400_000 else 1024
    passes = min(20.0, max(3.0, 10 * math.sqrt(10_000 / len(rows))))
    labels = Counter(label for row in rows for label in labels_of(row, kind))
    return encoder_recipe(
        EncoderPlan(
            task="text-classification",
            name=name,
            size=size,
            data={
                "train": "data/train.jsonl", "dev": "data/dev.jsonl", "test": "data/test.jsonl", "origin": "origin",
                "text": "text", "label": "label", "kind": kind, "word_dropout": 0.1,
                **({"second": "second", "overlap": True} if pairs else {}),
            },
            objective=_objective(labels, kind),
            head={"kind": "class", "labels": 1 if kind == "number" else len(labels)},
            model={"head": {"pool": "mean", "dropout": 0.2}},
            unspaced=unspaced,
            length=length,
            steps=max(200, math.ceil(tokens * passes / batch / 50) * 50),
            batch=batch,
            passes=passes,
            what="texts",
            why={
                "vocabulary": f"{len(rows):,} texts show each piece often enough",
                "length": "98 of 100 texts fit; longer ones are read in windows",
                "model": "as large as this much text can fill and an ordinary computer can train",
            },
        )
    )  # fmt: skip


def _objective(labels: Counter[str], kind: LabelKind) -> dict[str, float]:
    if kind == "number":
        return {}
    return {"smoothing": 0.1 if kind == "one" else 0.0, "balance": BALANCE if is_uneven(labels) else 0.0}


def _is_unspaced(rows: Sequence[LabelledText]) -> bool:
    letters = Counter(script_of(letter) for row in rows[:2000] for letter in row.text)
    letters.pop(None, None)
    return bool(letters) and letters.most_common(1)[0][0] in ("Han/Kana", "Thai", "Lao", "Khmer", "Myanmar")


def run_name(files: Sequence[Path]) -> str:
    """reviews.csv makes reviews."""
    return files[0].name.partition(".")[0] or "texts"


def example(run: Path) -> str:
    """The shortest text, or pair of texts, of the test part, as `classify` takes it."""
    rows = map(json.loads, (run / "data" / "test.jsonl").read_text(encoding="utf-8").splitlines())
    shown = (f"{row['text']} ||| {row['second']}" if "second" in row else str(row["text"]) for row in rows)
    return min(shown, key=len)


AUTOMATIC = Automatic(recognise=recognise, choose=choose, examine=examine, name=run_name, example=example)
