"""From recordings beside transcripts to a model that writes speech down: every choice, each with its reason."""

import csv
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from clearformer.data.class_split import hold_out_by_class
from clearformer.data.readers.tables import LabelledError
from clearformer.data.readers.transcribed import find_sound_columns, recordings_below
from clearformer.foundation import storage
from clearformer.tasks.automatic.recording_doctor import Heard, RecordingReport, examine_recordings
from clearformer.tasks.task import Automatic, Choice, Chosen

ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson")
HELD_OUT_SHARE = 10
FEW_WORDS = 100  # different words; of fewer, each is a token of its own if it occurs often enough
OFTEN = 5  # times that a word occurs, on average
SMALL = 3600  # seconds of speech, up to which the model stays small
USUAL_RATE = 16_000
FRAMES = 3000  # of a batch


class _Tokens(NamedTuple):
    """What the model writes."""

    values: dict[str, Any]
    choice: Choice


def recognise(files: Sequence[Path]) -> str | None:
    """A folder with NAME.wav beside NAME.txt, or a table whose rows name recordings."""
    if len(files) != 1:
        return None
    [path] = files
    if path.is_dir():
        sounds = list(recordings_below(path))
        return (
            "recordings beside their transcripts" if any(one.with_suffix(".txt").is_file() for one in sounds) else None
        )
    if not path.name.lower().endswith(ENDINGS):
        return None
    try:
        columns = find_sound_columns(path)
    except LabelledError:  # whoever knows what the table is says what is wrong with it
        return None
    return None if columns is None else f"recordings in column {columns.file}, their texts in column {columns.text}"


def examine(files: Sequence[Path]) -> RecordingReport:
    """What is wrong with recordings and transcripts."""
    return examine_recordings(files[0])[1]


class _Plan(NamedTuple):
    """What the recordings decide of a run."""

    rate: int
    dim: int
    layers: int
    join: int
    steps: int
    passes: int
    longest: float


def choose(files: Sequence[Path], out: Path) -> Chosen:
    """A recipe for recordings; a tenth is held out for development, and a tenth for the test."""
    [path] = files
    usable, report = examine_recordings(path)
    if report.fatal:
        raise LabelledError(next(places[0] for places in report.findings.values()))
    parts, plan, vocabulary = _split(usable, out / "data"), _plan(usable), _vocabulary(usable)
    choices = [
        Choice(
            what="held out",
            value=f"{parts['dev']:,} recordings for development, {parts['test']:,} for the test",
            reason="drawn at random; the same recording is never in two parts, but the same speaker may be",
        ),
        Choice(what="sample rate", value=f"{plan.rate:,} Hz", reason="as most recordings have, up to 16,000"),
        vocabulary.choice,
        Choice(
            what="model",
            value=f"an encoder of {plan.layers} layers, {plan.dim} wide, that labels each frame",
            reason=f"{report.minutes:.0f} minutes of speech are too little for more",
        ),
        Choice(
            what="changes",
            value="speed, loudness, noise, pitch, lost stripes" + (f", up to {plan.join} joined" * (plan.join > 1)),
            reason="what the words do not depend on, drawn anew at every reading",
        ),
        Choice(
            what="steps", value=f"{plan.steps:,}", reason=f"about {plan.passes} passes; the best on development is kept"
        ),
    ]
    return Chosen(recipe=_recipe(run_name(files), plan, vocabulary), choices=choices, report=report.to_text())


def _plan(usable: Sequence[Heard]) -> _Plan:
    seconds, longest = sum(one.seconds for one in usable), max(one.seconds for one in usable)
    small = seconds < SMALL
    join, passes = max(1, min(3, int(10 / longest))), 60 if small else 30
    steps = round(seconds * 100 * (join + 1) / 2 / FRAMES * passes)
    return _Plan(
        rate=min(USUAL_RATE, Counter(one.rate for one in usable).most_common(1)[0][0]),
        dim=128 if small else 192,
        layers=4 if small else 6,
        join=join,
        steps=max(1500, min(20_000, steps)),
        passes=passes,
        longest=longest,
    )


def _recipe(name: str, plan: _Plan, vocabulary: _Tokens) -> dict[str, Any]:
    every = max(25, plan.steps // 10)
    return {
        "task": "transcription",
        "name": name,
        "data": {
            "train": "data/train.tsv", "dev": "data/dev.tsv", "test": "data/test.tsv", "file": "file", "text": "text",
            "sample_rate": plan.rate, "mels": 40 if plan.rate <= 8000 else 64,
            "max_seconds": float(round(plan.longest * plan.join + 1)), "vocabulary": vocabulary.values,
            "changes": {"speed": 0.12, "loudness": 6.0, "noise": 0.1, "shift": 0.1, "pitch": 0.1, "time_masks": 2,
                        "pitch_masks": 2, "join": plan.join, "pause": 0.3},
        },
        "model": {
            "preset": "tiny", "shape": "encoder", "dim": plan.dim, "hidden_dim": 2 * plan.dim, "layers": plan.layers,
            "activation": "gelu", "attention": {"heads": plan.dim // 32}, "position": {"kind": "rotary"},
            "norm": {"place": "pre"}, "head": {"bias": True}, "dropout": {"embedding": 0.1, "residual": 0.1},
        },
        "training": {
            "steps": plan.steps, "save_every": every, "validate_every": every, "log_every": 25,
            "batch_tokens": FRAMES, "precision": "bfloat16",
            "schedule": {"kind": "cosine", "peak": 4e-3, "warmup": 0.05},
            "optimiser": {"kind": "muon", "clip": 1.0},
        },
    }  # fmt: skip


def _vocabulary(usable: Sequence[Heard]) -> _Tokens:
    """Whole words where there are few of them, else characters."""
    words = Counter(word for one in usable for word in one.example.text.split())
    if len(words) <= FEW_WORDS and words.total() >= OFTEN * len(words):
        values = {"kind": "word", "vocab_size": 200, "min_frequency": 1, "normalise": ["lowercase"]}
        reason = f"only {len(words)} different words are said, each {words.total() // len(words)} times on average"
        return _Tokens(values, Choice(what="tokens", value="whole words", reason=reason))
    values = {"kind": "character", "vocab_size": 4000, "min_frequency": 1, "normalise": ["lowercase"]}
    return _Tokens(
        values, Choice(what="tokens", value="characters", reason=f"{len(words):,} different words can be spelled")
    )


def run_name(files: Sequence[Path]) -> str:
    """The folder's or the table's own name."""
    path = files[0].resolve()
    return (path.name if path.is_dir() else path.stem) or "recordings"


def example(run: Path) -> str:
    """A recording of the test part."""
    with (run / "data" / "test.tsv").open(encoding="utf-8", newline="") as file:
        return next(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))["file"]


def _split(usable: Sequence[Heard], folder: Path) -> dict[str, int]:
    """Write a table for each part. Equal recordings stay together; of few texts that repeat, each part gets all."""
    storage.discard(folder)  # of a start that went wrong, perhaps with other recordings
    texts = [one.example.text for one in usable]
    few = len(set(texts)) <= len(texts) / HELD_OUT_SHARE
    keys, labels = [one.example.digest() for one in usable], texts if few else [""] * len(texts)
    tested = hold_out_by_class(keys, labels, share=1 / HELD_OUT_SHARE)
    rest = [number for number, out in enumerate(tested) if not out]
    looked_at = hold_out_by_class(
        [keys[number] for number in rest], [labels[number] for number in rest], share=1 / (HELD_OUT_SHARE - 1)
    )
    part_of = {number: "dev" if out else "train" for number, out in zip(rest, looked_at, strict=True)}
    rows: dict[str, list[str]] = {"train": [], "dev": [], "test": []}
    for number, one in enumerate(usable):
        rows[part_of.get(number, "test")].append(f"{one.example.path.resolve()}\t{one.example.text}\n")
    folder.mkdir(parents=True, exist_ok=True)
    for part, lines in rows.items():
        (folder / f"{part}.tsv").write_text("file\ttext\n" + "".join(lines), encoding="utf-8")
    return {part: len(lines) for part, lines in rows.items()}


AUTOMATIC = Automatic(recognise=recognise, choose=choose, examine=examine, name=run_name, example=example)
