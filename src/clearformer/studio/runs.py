"""Training runs as curves, sample translations, and attention over checkpoints.

Only folders that were named at the start are looked into, and a page names a run by its number, never by a path.
"""

import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

from clearformer.foundation import settings
from clearformer.foundation.locks import is_held
from clearformer.run.opened_run import open_run
from clearformer.serving.refusal import Refused
from clearformer.studio.shown_model import ShownModel
from clearformer.training.checkpoint import Checkpoints
from clearformer.training.metrics_log import METRICS, read_records

POINTS = 1500  # of a curve: more than a screen has pixels
FRESH = 120.0  # seconds: a run records more often than that
State = Literal["running", "stopped", "finished"]


class Runs:
    """The runs in some folders: each is a run itself or holds runs."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = list(folders)

    def folders(self) -> list[Path]:
        """Every run there is now, by name."""
        found = {path.resolve() for folder in self._folders for path in (folder, *_children(folder)) if _is_run(path)}
        return sorted(found)

    def list(self) -> list[dict[str, Any]]:
        """The name, progress and state of each run."""
        return [self._summary(number, folder) for number, folder in enumerate(self.folders())]

    def curves(self, number: int) -> dict[str, Any]:
        """What was recorded: one list of points per quantity, and the sample translations."""
        folder = self._folder(number)
        records = read_records(folder / METRICS)
        train = [record for record in records if record.get("kind") == "train"]
        validation = [record for record in records if record.get("kind") == "validation"]
        return {
            **self._summary(number, folder),
            "curves": {
                "train_loss": _points(train, "loss"),
                "validation_loss": _points(validation, "loss"),
                "learning_rate": _points(train, "learning_rate"),
                "gradient_norm": _points(train, "gradient_norm"),
                "bleu": _points(validation, "bleu"),
                "tokens_per_second": _thin(_speed(train)),
            },
            "samples": [_samples(record) for record in validation],
            "checkpoints": Checkpoints(folder / "checkpoints", keep=1).steps(),
        }

    def model_at(self, number: int, step: int) -> ShownModel:
        """The model as it was at a checkpoint."""
        folder = self._folder(number)
        if step not in Checkpoints(folder / "checkpoints", keep=1).steps():
            raise Refused("checkpoint", "{run} has no checkpoint of step {step} any more", run=folder.name, step=step)
        return ShownModel(open_run(folder, step), f"{folder.name} · {step}")

    def _folder(self, number: int) -> Path:
        folders = self.folders()
        if not 0 <= number < len(folders):
            told = "there is no run {number} any more; there are {count}, from 0"
            raise Refused("run", told, number=number, count=len(folders))
        return folders[number]

    def _summary(self, number: int, folder: Path) -> dict[str, Any]:
        records = read_records(folder / METRICS)
        return {
            "id": number,
            "name": folder.name,
            "step": max((int(record.get("step", 0)) for record in records), default=0),
            "steps": _planned(folder),
            "state": _state(folder),
            "updated": (folder / METRICS).stat().st_mtime,
        }


def _state(folder: Path) -> State:
    """A process that trains holds the folder's lock; where there is no lock to ask, a fresh record means the same."""
    held = is_held(folder / ".lock")
    if held:
        return "running"
    if (folder / "model" / "config.json").exists():
        return "finished"
    fresh = time.time() - (folder / METRICS).stat().st_mtime < FRESH
    return "running" if held is None and fresh else "stopped"


def _is_run(folder: Path) -> bool:
    return (folder / METRICS).is_file()


def _children(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if path.is_dir()]
    except OSError:
        return []


def _planned(folder: Path) -> int | None:
    try:
        steps = settings.read_toml(folder / "recipe.toml").get("training", {}).get("steps")
    except (ValueError, OSError):
        return None
    return steps if isinstance(steps, int) else None


def _points(records: Sequence[dict[str, Any]], name: str) -> list[tuple[int, float]]:
    points = [(record["step"], record[name]) for record in records if isinstance(record.get(name), int | float)]
    return _thin(points)


def _thin(points: list[tuple[int, float]]) -> list[tuple[int, float]]:
    """Every n-th point, and the last one always."""
    stride = -(-len(points) // POINTS) or 1
    kept = points[::stride]
    return kept if not points or kept[-1] == points[-1] else [*kept, points[-1]]


def _speed(records: Sequence[dict[str, Any]]) -> list[tuple[int, float]]:
    """What was counted (tokens, pictures) per second between records; a resumed run's pause is left out."""
    found = []
    for before, after in pairwise(records):
        seconds = after.get("time", 0) - before.get("time", 0)
        counted = after.get("count", 0) - before.get("count", 0)
        if 0 < seconds < 600 and counted > 0:
            found.append((after["step"], counted / seconds))
    return found


def _samples(record: dict[str, Any]) -> dict[str, Any]:
    texts = [value for name, value in record.items() if name.startswith("sample_") and isinstance(value, str)]
    return {"step": record.get("step", 0), "texts": texts}
