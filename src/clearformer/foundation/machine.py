"""The machine that we run on: its cores, its memory, the user's cache folder, and the C library's allocator."""

import os
import sys
from pathlib import Path

TRIM_THRESHOLD, MMAP_THRESHOLD, ARENA_MAX = -1, -3, -8  # glibc's numbers for its settings (malloc.h)
LARGEST = 1 << 30  # pieces up to here are kept
IDLE = 2_000_000_000  # and so much may lie idle at the end of the heap


def cores() -> tuple[int, ...]:
    """The numbers of the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return tuple(sorted(os.sched_getaffinity(0)))
    return tuple(range(os.cpu_count() or 1))


def cache_folder() -> Path:
    """Where this user's programs keep what they can make again: CLEARFORMER_CACHE, or the system's usual place."""
    if chosen := os.environ.get("CLEARFORMER_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "clearformer"


def resident_bytes() -> int | None:
    """The memory that this process holds now; None where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None


def sum_alike_in_any_batch() -> None:
    """Let Intel's matrix library sum in one order, however many rows are multiplied together, and by how many threads.

    A row's last bits would depend on its company otherwise, and with them which of two near ties is written. It has to
    be said before the first product; what the user has set stays. Other processors' kernels need only whole blocks of
    rows (`model/fast/row_blocks.py`).
    """
    try:
        with Path("/proc/cpuinfo").open("rb") as file:
            intel = b"GenuineIntel" in file.read(200)
    except OSError:
        intel = False
    if intel:
        os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")


def keep_freed_memory() -> bool:
    """Keep memory that was freed for the next step, instead of returning it to the system and asking for it again.

    A training step, or a batch that is decoded, frees and takes hundreds of megabytes. glibc returns large pieces to
    the system at once, which then hands out fresh pages and clears them first: a third of a small model's step. Where
    there is no glibc nothing is done. Returns whether there was one.
    """
    if not sys.platform.startswith("linux"):
        return False
    import ctypes

    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):  # another C library
        return False
    # One arena: those of other threads are made of small heaps, and what does not fit into one comes from the system.
    wishes = ((MMAP_THRESHOLD, LARGEST), (TRIM_THRESHOLD, IDLE), (ARENA_MAX, 1))
    granted = [mallopt(setting, value) for setting, value in wishes]
    return all(granted)
