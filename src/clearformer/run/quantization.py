"""A model in eight bits for the fast engine, if its task's own score stays within a limit.

Nothing is believed: both versions are scored on the same test set, and the smaller one is kept only if it is good
enough. `inference/quantize.py` does the same for models that write, which are searched with.
"""

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clearformer.folder.description import ModelFolder, open_folder
from clearformer.foundation.progress import OnProgress, unwatched
from clearformer.inference.engines import converted, open_bundle
from clearformer.interop.to_ctranslate2 import Quantization, convert
from clearformer.run.evaluation import evaluate
from clearformer.run.recipe import trainable
from clearformer.tasks import name_task

LIMIT = 0.5  # points of a score between 0 and 100 that may be lost


@dataclass(frozen=True, kw_only=True)
class ScoredVersion:
    """One version of a model: how large, how long it took over the test set, how good (a share of one)."""

    bytes: int
    seconds: float
    score: float


@dataclass(frozen=True, kw_only=True)
class ScoredPair:
    """A model before and after, on the same test set. name: of the score."""

    name: str
    before: ScoredVersion
    after: ScoredVersion

    @property
    def lost(self) -> float:
        """Points that the smaller model has less; below zero if it gained."""
        return 100 * (self.before.score - self.after.score)


def quantize_scored(
    model: str | Path | ModelFolder,
    out: Path,
    files: Sequence[Path],
    *,
    limit: float = LIMIT,
    quantization: Quantization = "int8",
    options: Any = None,
    on_progress: OnProgress = unwatched,
) -> ScoredPair:
    """Write a model folder in fewer bits, or, where it loses more than `limit` points on these files, nothing."""
    if out.exists():
        raise ValueError(f"{out} exists already; choose another name or remove it")
    folder = open_folder(model)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as aside:
        small = Path(aside) / "model"
        convert(folder, small, quantization=quantization)
        name, before = _measure(converted(folder), files, options, lambda n, all_: on_progress(n, 2 * all_))
        _, after = _measure(open_folder(small), files, options, lambda n, all_: on_progress(all_ + n, 2 * all_))
        found = ScoredPair(name=name, before=before, after=after)
        if found.lost > limit:
            raise ValueError(
                f"{quantization} costs {found.lost:.2f} points of {name} ({100 * before.score:.2f} before, "
                f"{100 * after.score:.2f} after), more than the {limit:.2f} allowed; nothing was written. Raise "
                "--limit if that is good enough"
            )
        small.rename(out)
    return found


def _measure(
    folder: ModelFolder, files: Sequence[Path], options: Any, on_progress: OnProgress
) -> tuple[str, ScoredVersion]:
    """Score a folder of the fast engine; also the name of the score that decides."""
    task, training = trainable(name_task(folder.description.task, folder.description.model))
    predictor = task.use(open_bundle(folder))
    started = time.perf_counter()
    scores = evaluate(folder, files, options=options, predictor=predictor, on_progress=on_progress)
    taken = time.perf_counter() - started
    names = (training.best,) if isinstance(training.best, str) else training.best
    name = next(name for name in names if name in scores)
    size = (folder.path / "model.bin").stat().st_size
    return name, ScoredVersion(bytes=size, seconds=taken, score=float(scores[name]))
