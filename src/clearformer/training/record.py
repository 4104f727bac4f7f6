"""What happened, one JSON line a record, and the same as TensorBoard events where that package is installed."""

import json
import os
from pathlib import Path
from typing import Any

METRICS = "metrics.jsonl"


class Record:
    """An append-only log of a run. Resuming cuts it back to the checkpoint, so every step is logged once."""

    def __init__(self, folder: Path, *, resume_from: int = 0, tensorboard: bool = True) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / METRICS
        kept = [line for line in read_records(self.path) if line["step"] <= resume_from] if resume_from else []
        aside = self.path.with_suffix(".writing")
        aside.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in kept), encoding="utf-8")
        aside.replace(self.path)
        self._file = self.path.open("a", encoding="utf-8")
        self._events = _event_writer(folder / "events", resume_from) if tensorboard else None

    def write(self, kind: str, step: int, **values: Any) -> None:
        """Add a record and push it out of our buffers at once."""
        self._file.write(json.dumps({"step": step, "kind": kind, **values}, ensure_ascii=False) + "\n")
        self._file.flush()
        if self._events is not None:
            for name, value in values.items():
                if isinstance(value, int | float):
                    self._events.add_scalar(f"{kind}/{name}", value, step)
                elif isinstance(value, str):
                    self._events.add_text(f"{kind}/{name}", value, step)

    def close(self) -> None:
        """Put everything on disk."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        if self._events is not None:
            self._events.close()


def read_records(path: Path) -> list[dict[str, Any]]:
    """All whole records of a run; a last line that a crash cut short is left out."""
    if not path.exists():
        return []
    records = []
    for line in path.read_text(encoding="utf-8").split("\n"):
        try:
            records.append(json.loads(line))
        except ValueError:
            continue
    return records


def _event_writer(folder: Path, resume_from: int) -> Any:
    """TensorBoard's writer, or None: the package is an extra (`clearformer[tensorboard]`)."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder), purge_step=resume_from + 1 if resume_from else None)
