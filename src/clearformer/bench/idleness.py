"""What the machine is, and whether it was idle otherwise: figures from a busy machine should not be quoted.

The kernel counts how long all cores together were busy; our own programs' time is subtracted, and the rest is other
programs. Linux reports this in /proc; elsewhere only the load average is known.
"""

import os
import platform
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from clearformer.foundation.machine import cores

PROC = Path("/proc")
TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
QUIET_CORES = 0.1  # other programs may use this many cores and the machine still counts as idle
QUIET_LOAD = 0.3  # of the cores: where only the load average is known


@dataclass(frozen=True, kw_only=True)
class Busy:
    """Seconds since boot that all cores together worked, or were taken away by the host of a virtual machine."""

    worked: float
    stolen: float
    at: float  # when this was read, in seconds of a steady clock


def read_busy() -> Busy | None:
    """The counters now; None where the system does not have them."""
    try:
        text = (PROC / "stat").read_text(encoding="ascii")
    except OSError:
        return None
    worked, stolen = parse_busy(text)
    return Busy(worked=worked / TICKS, stolen=stolen / TICKS, at=time.monotonic())


def parse_busy(text: str) -> tuple[int, int]:
    """Ticks worked and ticks stolen, from the first line of /proc/stat.

    The fields are user, nice, system, idle, iowait, irq, softirq, steal; what follows is counted in user already.
    """
    name, *fields = text.partition("\n")[0].split()
    if name != "cpu" or len(fields) < 8:
        raise ValueError(f"/proc/stat begins with {text[:40]!r} instead of the counters of all processors")
    user, nice, system, _, _, irq, softirq, steal = (int(field) for field in fields[:8])
    return user + nice + system + irq + softirq, steal


def used_by_others(before: Busy | None, after: Busy | None, ours: float) -> float | None:
    """Cores that other programs kept busy, on average, while ours used so many seconds of CPU time."""
    if before is None or after is None or after.at <= before.at:
        return None
    taken = after.worked - before.worked + after.stolen - before.stolen - ours
    return max(0.0, taken / (after.at - before.at))


@dataclass(frozen=True, kw_only=True)
class Moment:
    """The machine for a second, before anything of ours ran."""

    load: float  # the system's average over the last minute
    cores: int  # that we may use
    others: float | None  # cores that other programs used
    busiest: tuple[str, ...] = ()  # who used them

    def disturbance(self) -> str | None:
        """Why figures measured now would not count; None if the machine is idle."""
        if self.others is not None and self.others > QUIET_CORES:
            names = f" ({', '.join(self.busiest)})" if self.busiest else ""
            return f"before the run other programs used {self.others:.1f} of {self.cores} cores{names}"
        if self.others is None and self.load > QUIET_LOAD * self.cores:
            return f"the load average was {self.load:.1f} on {self.cores} cores before the run"
        return None


def look(seconds: float = 1.0) -> Moment:
    """Observe the machine for a moment, while we do nothing."""
    before, running = read_busy(), processes()
    time.sleep(seconds)
    after = read_busy()
    return Moment(
        load=os.getloadavg()[0],
        cores=len(cores()),
        others=used_by_others(before, after, 0.0),
        busiest=busiest(running, processes(), seconds),
    )


def processes() -> dict[int, "Process"]:
    """All running processes, by process id."""
    found = {}
    for path in PROC.glob("[0-9]*/stat"):
        try:
            process = parse_process(path.read_text(encoding="utf-8", errors="replace"))
        except OSError:  # it ended meanwhile
            continue
        found[process.number] = process
    return found


@dataclass(frozen=True, kw_only=True)
class Process:
    """A line of /proc/PID/stat, as far as we need it."""

    number: int
    name: str
    session: int
    seconds: float


def parse_process(text: str) -> Process:
    """The name stands in brackets and may itself hold brackets and blanks, so the last one counts."""
    head, _, tail = text.rpartition(")")
    number, _, name = head.partition(" (")
    fields = tail.split()  # from the third field on: state, parent, group, session, …, 14 user time, 15 system time
    seconds = (int(fields[11]) + int(fields[12])) / TICKS
    return Process(number=int(number), name=name, session=int(fields[3]), seconds=seconds)


def busiest(
    before: Mapping[int, Process], after: Mapping[int, Process], seconds: float, *, most: int = 3
) -> tuple[str, ...]:
    """The programs that used most CPU time in between, with the cores that they used."""

    def used(number: int) -> float:
        earlier = before[number].seconds if number in before else 0.0
        return (after[number].seconds - earlier) / seconds

    worst = sorted(after, key=used, reverse=True)[:most]
    return tuple(f"{after[number].name} {used(number):.1f}" for number in worst if used(number) >= 0.05)


def processor_name() -> str:
    """The processor's name."""
    try:
        lines = (PROC / "cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine())


def peak_memory(session: int) -> int | None:
    """The sum, over the living processes of a session, of the most memory that each has had resident, in bytes."""
    total = None
    for path in PROC.glob("[0-9]*/stat"):
        try:
            if parse_process(path.read_text(encoding="utf-8", errors="replace")).session == session:
                total = (total or 0) + parse_high_water((path.parent / "status").read_text(encoding="utf-8"))
        except OSError:
            continue
    return total


def parse_high_water(text: str) -> int:
    """Bytes from the line "VmHWM:   123 kB" of /proc/PID/status; a process that is ending has none."""
    for line in text.splitlines():
        if line.startswith("VmHWM:"):
            return 1024 * int(line.split()[1])
    return 0
