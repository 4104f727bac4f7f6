"""What happened, one JSON line a record, and the same as TensorBoard events where that package is installed."""

import contextlib
import json
import math
import os
from pathlib import Path
from typing import Any

METRICS = "metrics.jsonl"


class MetricsLog:
    """The log of a run. Resuming cuts it back to what the checkpoint knew of, so nothing is logged twice."""

    def __init__(self, folder: Path, *, keep: int = 0, step: int = 0) -> None:
        """keep: records written before the checkpoint that this run goes on from; step: its step."""
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / METRICS
        kept = read_records(self.path)[:keep]
        aside = self.path.with_suffix(".writing")
        aside.write_text("".join(map(_line, kept)), encoding="utf-8")
        aside.replace(self.path)
        self._file = self.path.open("a", encoding="utf-8")
        self._events = _event_writer(folder / "events", step)

    def write(self, kind: str, step: int, **values: float | str) -> None:
        """Add a record and push it out of our buffers at once."""
        finite = {
            name: value if isinstance(value, str) or math.isfinite(value) else None for name, value in values.items()
        }
        try:
            self._file.write(_line({"step": step, "kind": kind, **finite}))
            self._file.flush()
        except OSError as error:
            raise OSError(f"{self.path} could not be written: {error.strerror}; make room and resume") from error
        if self._events is not None:
            for name, value in values.items():
                if isinstance(value, str):
                    self._events.add_text(f"{kind}/{name}", value, step)
                else:
                    self._events.add_scalar(f"{kind}/{name}", value, step)

    def sync(self) -> None:
        """Have it on disk before a checkpoint counts on it."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """No more records."""
        with contextlib.suppress(OSError):  # every write was pushed out, and one that failed has said so
            self._file.close()
        if self._events is not None:
            self._events.close()


def read_records(path: Path) -> list[dict[str, Any]]:
    """All whole records of a run; a last line that a crash cut short, perhaps within a character, is left out."""
    records = []
    for line in path.read_bytes().split(b"\n") if path.exists() else []:
        try:
            records.append(json.loads(line))
        except ValueError:
            continue
    return records


def _line(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"


def _event_writer(folder: Path, step: int) -> Any:
    """TensorBoard's writer, or None: the package is an extra (`clearformer[tensorboard]`)."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return None
    return SummaryWriter(str(folder), purge_step=step + 1 if step else None)
