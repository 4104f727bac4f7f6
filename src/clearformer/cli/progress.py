"""Progress of long work: a bar on a terminal, plain lines elsewhere, always on stderr."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from clearformer.run.train import Watchers
    from clearformer.training.loop import StepReport

PLAIN_SECONDS = 30.0  # how often a line is written where there is no terminal


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[int, int], None]]:
    """A bar for anything that can say (done, total)."""
    with _progress() as bar:
        task = bar.add_task(label, total=None, note="")
        last = time.monotonic()

        def show(done: int, total: int) -> None:
            nonlocal last
            bar.update(task, completed=done, total=total)
            if not sys.stderr.isatty() and (done == total or time.monotonic() - last > PLAIN_SECONDS):
                last = time.monotonic()
                print(f"{label}: {done:,} of {total:,}", file=sys.stderr, flush=True)

        yield show


@contextmanager
def training_progress() -> Iterator["Watchers"]:
    """Bars for preparing and training, with loss, speed and time left."""
    from clearformer.run.train import Watchers

    with _progress() as bar:
        preparing = bar.add_task("preparing", total=None, note="", visible=False)
        training = bar.add_task("training", total=None, note="", visible=False)
        speed, last, unit = _Speed(), time.monotonic(), "tokens"

        def prepare(done: int, total: int) -> None:
            bar.update(preparing, completed=done, total=total, visible=True)

        def plan(steps: int, counted: str) -> None:
            nonlocal unit
            unit = counted
            bar.update(preparing, visible=False)
            bar.update(training, total=steps)

        def train(report: "StepReport") -> None:
            nonlocal last
            progress = report.progress
            note = f"loss {progress.smooth_loss or report.loss:.3f}  {speed.of(progress.count):,.0f} {unit}/s"
            bar.update(training, completed=progress.step, note=note, visible=True)
            if not sys.stderr.isatty() and (progress.step == report.steps or time.monotonic() - last > PLAIN_SECONDS):
                last = time.monotonic()
                print(f"step {progress.step:,} of {report.steps:,}  {note}", file=sys.stderr, flush=True)

        yield Watchers(prepare=prepare, plan=plan, train=train)


class _Speed:
    """What the loss counts, per second, over the last minute or so."""

    def __init__(self) -> None:
        self._marks: list[tuple[float, int]] = []

    def of(self, count: int) -> float:
        now = time.monotonic()
        self._marks = [mark for mark in self._marks if now - mark[0] < 60] + [(now, count)]
        (then, before), elapsed = self._marks[0], now - self._marks[0][0]
        return (count - before) / elapsed if elapsed > 0 and then else 0.0


def _progress() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
        console=Console(stderr=True),
        disable=not sys.stderr.isatty(),
        transient=True,
    )
