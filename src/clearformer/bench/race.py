"""The race: contenders take turns, each in its own process, and report one line per case.

The protocol. A contender reads one JSON object, the job, from its standard input. For each case it has measured it
writes one line with a JSON object to its standard output:

    {"case": "tiny", "unit": "target tokens", "count": 81920, "seconds": 20.1, …}

`count` units took `seconds`; `latency` may give the median seconds of one call; other fields (version,
parameters, loss) are kept as they are. Then it ends with code 0. A contender that crashes, hangs or writes something
else is reported with the reason and not run again; the others continue.
"""

import contextlib
import json
import math
import os
import resource
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clearformer.bench import idleness
from clearformer.foundation.machine import cores

OURS_TO_CHOOSE = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OMP_WAIT_POLICY", "PYTHONPATH")  # not the caller's values
WATCH_SECONDS = 0.2  # how often the memory is measured


class ProtocolError(ValueError):
    """A contender wrote something that is not a result."""


@dataclass(frozen=True, kw_only=True)
class Runner:
    """What the race needs of a contender: its name and its command."""

    name: str
    command: tuple[str, ...]
    variables: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class RaceReading:
    """One measured case."""

    case: str
    unit: str
    count: float
    seconds: float
    latency: float | None = None  # the median seconds of one call, where calls were timed one by one
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rate(self) -> float:
        """Units per second."""
        return self.count / self.seconds


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One contender's turn: what it measured, or why there is no result."""

    name: str
    readings: tuple[RaceReading, ...] = ()
    failure: str | None = None
    peak_bytes: int | None = None  # resident memory of all its processes at their largest
    others: float | None = None  # cores that other programs used meanwhile


def race(
    runners: Sequence[Runner],
    job: Mapping[str, Any],
    *,
    repeats: int,
    limit: float,
    watch: Callable[[Turn], None] = lambda turn: None,
) -> list[Turn]:
    """Let all contenders take one turn, then another, so that a change of the machine's speed affects all alike.

    limit: seconds after which a turn counts as hung and is ended.
    """
    turns: list[Turn] = []
    failed: set[str] = set()
    for _ in range(repeats):
        for runner in runners:
            if runner.name not in failed:
                turn = take_turn(runner, job, limit=limit)
                turns.append(turn)
                watch(turn)
                if turn.failure is not None:
                    failed.add(runner.name)
    return turns


def take_turn(runner: Runner, job: Mapping[str, Any], *, limit: float) -> Turn:
    """Start a contender, give it the job, and wait for its results."""
    before, used = idleness.read_busy(), _processor_seconds()
    peak: int | None = None
    try:
        with _started(runner, threads=job.get("threads")) as process, _Memory(process.pid) as memory:
            said, complaint = process.communicate(json.dumps({**job, "options": dict(runner.options)}), timeout=limit)
        peak = memory.peak
        if process.returncode != 0:
            return Turn(name=runner.name, failure=_ending(process.returncode, complaint), peak_bytes=peak)
        readings = parse_readings(said)
    except subprocess.TimeoutExpired:
        return Turn(name=runner.name, failure=f"was not done after {limit:.0f} s and was ended")
    except OSError as error:
        return Turn(name=runner.name, failure=f"could not be started: {error}")
    except ProtocolError as error:
        return Turn(name=runner.name, failure=str(error), peak_bytes=peak)
    others = idleness.used_by_others(before, idleness.read_busy(), _processor_seconds() - used)
    return Turn(name=runner.name, readings=readings, peak_bytes=peak, others=others)


def parse_readings(text: str) -> tuple[RaceReading, ...]:
    """What a contender wrote, checked: nothing that is not a number may get into a table."""
    readings = tuple(_reading(line) for line in text.splitlines() if line.strip())
    if not readings:
        raise ProtocolError("ended without a result")
    return readings


def _reading(line: str) -> RaceReading:
    try:
        values = json.loads(line)
        case, unit = values.pop("case"), values.pop("unit")
        count, seconds = float(values.pop("count")), float(values.pop("seconds"))
        latency = values.pop("latency", None)
    except (ValueError, TypeError, KeyError, AttributeError):
        raise ProtocolError(f"said {line[:80]!r} where a result with case, unit, count and seconds belongs") from None
    for name, value in (("count", count), ("seconds", seconds), ("latency", latency)):
        if value is not None and not (isinstance(value, float | int) and math.isfinite(value) and value > 0):
            raise ProtocolError(f"measured {name} {value} in case {case!r}, which cannot be")
    return RaceReading(case=case, unit=unit, count=count, seconds=seconds, latency=latency, facts=values)


def _ending(code: int, complaint: str) -> str:
    """How a contender ended, with its last line of output: the last line of a traceback gives the reason."""
    words = complaint.strip().splitlines()
    how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
    return f"{how}: {words[-1].strip()[:300]}" if words else how


@contextlib.contextmanager
def _started(runner: Runner, *, threads: int | None) -> Iterator["subprocess.Popen[str]"]:
    """The contender's process, in its own session; whatever still runs at the end is ended."""
    inherited = {name: value for name, value in os.environ.items() if name not in OURS_TO_CHOOSE}
    with _on_cores(threads):  # a child inherits them
        process = subprocess.Popen(
            runner.command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            env=inherited | dict(runner.variables),
            start_new_session=True,
        )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


@contextlib.contextmanager
def _on_cores(count: int | None) -> Iterator[None]:
    """Limit processes started inside to so many cores, where the system allows it."""
    free = cores()
    if count is None or count >= len(free) or not hasattr(os, "sched_setaffinity"):
        yield
        return
    os.sched_setaffinity(0, free[:count])
    try:
        yield
    finally:
        os.sched_setaffinity(0, free)


class _Memory:
    """Measures the memory of a session repeatedly while the block runs."""

    def __init__(self, session: int) -> None:
        self.session, self.peak = session, idleness.peak_memory(session)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> "_Memory":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(WATCH_SECONDS):
            now = idleness.peak_memory(self.session)
            if now is not None:
                self.peak = max(self.peak or 0, now)


def _processor_seconds() -> float:
    """CPU time of this program and of the finished processes that it started."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime + time.process_time()
