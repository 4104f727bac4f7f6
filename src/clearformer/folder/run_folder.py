"""The folder of a run: one process at a time works in it, and what a killed one left half done is cleared up."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from clearformer.foundation import locks, storage

RECIPE, DESCRIPTION, CHECKPOINTS, MODEL = "recipe.toml", "description", "checkpoints", "model"


def is_run(folder: Path) -> bool:
    """Whether a folder is that of a run."""
    return (folder / RECIPE).is_file()


@contextmanager
def alone_in(out: Path) -> Iterator[None]:
    """Keep a second process out of a run's folder, and clear up after one that was killed there."""
    with ExitStack() as held:
        try:
            held.enter_context(locks.only_one(out / ".lock", wait_seconds=0))
        except TimeoutError:
            raise ValueError(f"another process is training in {out}; wait for it, or choose another --out") from None
        storage.sweep(out)
        yield
