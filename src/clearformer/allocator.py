"""Keep memory that was freed instead of giving it back to the system and asking for it again at the next step.

A training step, or a batch that is translated, frees and takes hundreds of megabytes. glibc returns large pieces to the
system at once, which then hands out fresh pages and clears them first: a third of a small model's step. Where there is
no glibc nothing is done.
"""

import ctypes
import sys

TRIM_THRESHOLD, MMAP_THRESHOLD, ARENA_MAX = -1, -3, -8  # glibc's numbers for its settings (malloc.h)
LARGEST = 1 << 30  # pieces up to here are kept
IDLE = 2_000_000_000  # and so much may lie idle at the end of the heap


def keep_freed_memory() -> bool:
    """Raise glibc's limits for this process; returns whether there was a glibc to talk to."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):  # another C library
        return False
    # One arena: those of other threads are made of small heaps, and what does not fit into one comes from the system.
    wishes = ((MMAP_THRESHOLD, LARGEST), (TRIM_THRESHOLD, IDLE), (ARENA_MAX, 1))
    answers = [mallopt(setting, value) for setting, value in wishes]
    return all(answers)
