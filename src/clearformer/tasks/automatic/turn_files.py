"""From conversations in JSON lines to a model that answers like them: every choice of a run, each with its reason."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clearformer.data.class_split import hold_out_by_class
from clearformer.data.readers.turns import Dialogue, holds_turns, read_turns
from clearformer.tasks.automatic.turn_doctor import TurnReport, examine_turns
from clearformer.tasks.task import Automatic, Choice, Chosen

START = "smollm2"  # a small model that converses, which `clearformer models get` fetches
HELD_OUT = 0.1  # of the conversations, half for development and half for the test
PASSES, BATCH, LENGTH, RANK, PEAK = 3, 2048, 512, 8, 3e-4
A_TOKEN = 4  # characters


def recognise(files: Sequence[Path]) -> str | None:
    """One file of JSON lines, each with messages."""
    if len(files) != 1 or not files[0].is_file() or ".json" not in files[0].name or not holds_turns(files[0]):
        return None
    return "conversations, for a model that converses"


def examine(files: Sequence[Path]) -> TurnReport:
    """What is wrong with conversations."""
    return examine_turns(files[0])[1]


def choose(files: Sequence[Path], out: Path) -> Chosen:
    """A recipe; a tenth of the conversations is held out, half of it for development and half for the test."""
    rows, report = examine_turns(files[0])
    if report.fatal:
        raise ValueError(report.findings[0])
    parts = _split(rows)
    for name, part in parts.items():
        _write(part, out / "data" / f"{name}.jsonl")
    characters = sum(len(one.content) for row in parts["train"] for one in row.messages)
    steps = max(20, math.ceil(characters / A_TOKEN * PASSES / BATCH / 10) * 10)
    often = max(10, steps // 10)
    recipe: dict[str, Any] = {
        "task": "conversation",
        "name": run_name(files),
        "data": {f"{name}": f"data/{name}.jsonl" for name in parts} | {"max_length": LENGTH},
        "model": {"from": START},
        "training": {
            "steps": steps,
            "save_every": often,
            "validate_every": often,
            "log_every": min(50, often),
            "batch_tokens": BATCH,
            "schedule": {"kind": "cosine", "peak": PEAK, "warmup": 0.1},
            "optimiser": {"kind": "adam", "clip": 1.0},
            "tuning": {"rank": RANK},
        },
    }
    return Chosen(recipe=recipe, choices=_reasons(parts, steps), report=report.to_text())


def _reasons(parts: dict[str, list[Dialogue]], steps: int) -> list[Choice]:
    held = f"{len(parts['dev']):,} conversations for development, {len(parts['test']):,} for the test"
    return [
        Choice(what="held out", value=held, reason="no conversation is in two parts"),
        Choice(what="model", value=f"begins with {START}", reason="it converses already; --start names another"),
        Choice(what="what is learned", value="the answers", reason="a user's words are read, not imitated"),
        Choice(
            what="adapters",
            value=f"rank {RANK}, at a rate of {PEAK:g}",
            reason="the model itself stays as it is, and what is learned is a small file",
        ),
        Choice(what="length", value=f"{LENGTH} tokens", reason="the last turns of longer ones are left off"),
        Choice(
            what="steps", value=f"{steps:,}", reason=f"about {PASSES} passes; the best on the development part is kept"
        ),
    ]


def _split(rows: Sequence[Dialogue]) -> dict[str, list[Dialogue]]:
    keys = [tuple((one.role, one.content) for one in row.messages) for row in rows]
    held = hold_out_by_class(keys, [""] * len(rows), share=HELD_OUT)
    out = [place for place, aside in enumerate(held) if aside]
    if len({keys[place] for place in out}) < 2:  # of a handful, one for each part
        last = list(dict.fromkeys(keys))[-2:]
        held = [key in last for key in keys]
        out = [place for place, aside in enumerate(held) if aside]
    middle = {keys[place] for place in out[: len(out) // 2]}
    return {
        "train": [row for row, aside in zip(rows, held, strict=True) if not aside],
        "dev": [rows[place] for place in out if keys[place] in middle],
        "test": [rows[place] for place in out if keys[place] not in middle],
    }


def _write(rows: Sequence[Dialogue], path: Path) -> None:
    lines = [json.dumps({"messages": [one.plain() for one in row.messages]}, ensure_ascii=False) for row in rows]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def run_name(files: Sequence[Path]) -> str:
    """turns.jsonl makes turns."""
    return files[0].name.partition(".")[0] or "conversations"


def example(run: Path) -> str:
    """What a user says first in the test part."""
    first = next(read_turns(run / "data" / "test.jsonl"))
    return next(one.content for one in first.messages if one.role == "user")[:80]


AUTOMATIC = Automatic(recognise=recognise, choose=choose, examine=examine, name=run_name, example=example)
