"""Measurements on disk: one small file per trial, named after everything that it depends on.

A run that was killed finds what it had measured; a file that cannot be read is measured again.
"""

import hashlib
import json
import os
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from clearformer.foundation.machine import cache_folder
from clearformer.lab.experiment import Measurement, Scale, Trial

LAST = "last.json"


def usual_folder() -> Path:
    """In this user's cache."""
    return cache_folder() / "lab"


@dataclass(frozen=True, kw_only=True)
class LastRun:
    """How an experiment ended the last time."""

    verdict: str
    scale: Scale
    seeds: int
    seconds: float
    date: str


@dataclass(frozen=True)
class KeptResults:
    """A folder with one subfolder per experiment."""

    folder: Path

    def read(self, name: str, key: str, trial: Trial) -> Measurement | None:
        """What a trial gave, if it was made with this very code."""
        kept = _read(self._file(name, key, trial))
        if kept is None or kept.get("trial") != asdict(trial) or not isinstance(kept.get("values"), dict):
            return None
        return Measurement(trial=trial, values=kept["values"], seconds=float(kept.get("seconds", 0.0)))

    def write(self, name: str, key: str, measured: Measurement) -> None:
        """Keep what a trial gave."""
        _write(self._file(name, key, measured.trial), asdict(measured))

    def last(self, name: str) -> LastRun | None:
        """How the experiment ended the last time, if it ever did."""
        kept = _read(self.folder / name / LAST)
        try:
            return None if kept is None else LastRun(**kept)
        except TypeError:  # written by another version
            return None

    def end(self, name: str, verdict: str, measurements: list[Measurement]) -> None:
        """Remember how a run ended."""
        last = LastRun(
            verdict=verdict,
            scale=measurements[0].trial.scale,
            seeds=len({one.trial.seed for one in measurements}),
            seconds=round(sum(one.seconds for one in measurements), 1),
            date=datetime.now(UTC).date().isoformat(),
        )
        _write(self.folder / name / LAST, asdict(last))

    def _file(self, name: str, key: str, trial: Trial) -> Path:
        described = json.dumps([key, asdict(trial)])
        return self.folder / name / f"{trial.scale}-{hashlib.sha256(described.encode()).hexdigest()[:24]}.json"


def _read(file: Path) -> dict[str, Any] | None:
    try:
        kept = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return kept if isinstance(kept, dict) else None


def _write(file: Path, value: dict[str, Any]) -> None:
    """Aside first, so that nobody ever reads half a file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    aside = file.with_name(f".{file.name}.{os.getpid()}")
    aside.write_text(json.dumps(value, ensure_ascii=False) + "\n", encoding="utf-8")
    aside.replace(file)
