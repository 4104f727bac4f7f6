"""One process at a time: a lock that the operating system drops when its holder dies, however it dies."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

log = logging.getLogger(__name__)

POLL_SECONDS = 0.1


@contextmanager
def only_one(path: Path, *, wait_seconds: float = 24 * 3600) -> Iterator[None]:
    """Hold the lock file `path` (made if missing, never removed: removing it would let two processes in)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        deadline = time.monotonic() + wait_seconds
        waiting = False
        while not _try_lock(file):
            if time.monotonic() >= deadline:
                raise TimeoutError(
                    f"Another process has held {path} for {wait_seconds:g} seconds: wait for it to finish or end it."
                )
            if not waiting:
                log.info("waiting for another process that holds %s", path)
                waiting = True
            time.sleep(POLL_SECONDS)
        yield  # closing the file releases the lock


if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: IO[bytes]) -> bool:
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
