"""One process at a time: a lock that the operating system releases when its holder dies, however it dies."""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

PATIENT = 24 * 3600.0  # seconds


@contextmanager
def only_one(path: Path, *, wait_seconds: float = PATIENT) -> Iterator[None]:
    """Hold the lock file `path` (created if missing); waits for another holder, up to a limit."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        held = FileLock(path).acquire(timeout=wait_seconds)
    except Timeout:
        raise TimeoutError(
            f"another process has held {path} for {wait_seconds:g} seconds: wait for it to finish or end it"
        ) from None
    with held:
        yield


def is_held(path: Path) -> bool | None:
    """Whether somebody holds the lock file now; None where that cannot be known: no file, not ours to read, no flock.

    Nothing is created or written. The question is asked with a shared lock that is given back at once, so that any
    number of people may ask.
    """
    try:
        fcntl = importlib.import_module("fcntl")  # Windows has none
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except (ImportError, OSError):
        return None
    return False
