"""A model in eight bits or four, if its task's own score stays within a limit.

Nothing is believed: both versions are scored on the same test set, and the smaller one is kept only if it is good
enough. `inference/quantize.py` does the same for models that write, which are searched with.
"""

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from clearformer.data.file_facts import refuse_blank
from clearformer.folder.bundle import load, save
from clearformer.folder.description import ModelFolder, open_folder
from clearformer.foundation.progress import OnProgress, unwatched
from clearformer.inference.engines import converted, open_bundle
from clearformer.interop.to_ctranslate2 import convert
from clearformer.run.evaluation import evaluate
from clearformer.run.recipe import trainable
from clearformer.tasks import name_task

LIMIT = 0.5  # points of a score between 0 and 100 that may be lost
LIMIT_PERPLEXITY = 1.0  # per cent that a perplexity may rise


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
        """Points that the smaller model has less, or per cent of perplexity that it has more; below zero: it gained."""
        if self.name == "perplexity":
            return 100 * (self.after.score / self.before.score - 1)
        return 100 * (self.before.score - self.after.score)

    @property
    def said(self) -> str:
        """What was lost, in words."""
        before, after = self.before.score, self.after.score
        if self.name == "perplexity":
            return f"{self.lost:.2f} % of perplexity ({before:.3f} before, {after:.3f} after)"
        return f"{self.lost:.2f} points of {self.name} ({100 * before:.2f} before, {100 * after:.2f} after)"


def quantize_scored(
    model: str | Path | ModelFolder,
    out: Path,
    files: Sequence[Path],
    *,
    limit: float | None = None,
    bits: Literal[8, 4] = 8,
    options: Any = None,
    on_progress: OnProgress = unwatched,
) -> ScoredPair:
    """Write a model folder in fewer bits, or, where it loses more than `limit` points on these files, nothing."""
    if out.exists():
        raise ValueError(f"{out} exists already; choose another name or remove it")
    refuse_blank(files)  # before the model is converted, which takes a while
    folder = open_folder(model)
    if folder.description.model.get("shape") == "encoder-decoder":
        task = name_task(folder.description.task, folder.description.model)
        raise ValueError(f"{folder.path} is for {task}, and models for that run in float32 alone")
    if bits == 4 and not writes(folder):
        task = name_task(folder.description.task, folder.description.model)
        raise ValueError(f"{folder.path} is for {task}, and four bits are for models that continue texts; take eight")
    limit = limit if limit is not None else LIMIT_PERPLEXITY if writes(folder) else LIMIT
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as aside:
        small = Path(aside) / "model"
        whole = _rounded(folder, small, bits) if writes(folder) else _converted(folder, small)
        name, before = _measure(whole, files, options, lambda n, all_: on_progress(n, 2 * all_))
        _, after = _measure(open_folder(small), files, options, lambda n, all_: on_progress(all_ + n, 2 * all_))
        found = ScoredPair(name=name, before=before, after=after)
        if found.lost > limit:
            raise ValueError(
                f"int{bits} costs {found.said}, more than the {limit:.2f} allowed; nothing was written. Raise "
                "--limit if that is good enough"
            )
        small.rename(out)
    return found


def writes(folder: ModelFolder) -> bool:
    """Whether the model continues texts. Such a one is rounded for our own fast path, others for ctranslate2."""
    return folder.description.model.get("shape") == "decoder"


def _rounded(folder: ModelFolder, small: Path, bits: Literal[8, 4]) -> ModelFolder:
    """Write the smaller folder; returns the one to compare it with."""
    save(load(folder), small, dtype="int4" if bits == 4 else "int8")
    return folder


def _converted(folder: ModelFolder, small: Path) -> ModelFolder:
    convert(folder, small, quantization="int8")
    return converted(folder)


def _measure(
    folder: ModelFolder, files: Sequence[Path], options: Any, on_progress: OnProgress
) -> tuple[str, ScoredVersion]:
    """Score a folder; also the name of the score that decides."""
    task, training = trainable(name_task(folder.description.task, folder.description.model))
    predictor = task.use(open_bundle(folder))
    started = time.perf_counter()
    scores = evaluate(folder, files, options=options, predictor=predictor, on_progress=on_progress)
    taken = time.perf_counter() - started
    names = (training.best,) if isinstance(training.best, str) else training.best
    name = next((name for name in names if name in scores), "perplexity")  # where training has looked at the loss
    size = max(path.stat().st_size for path in folder.path.iterdir())
    return name, ScoredVersion(bytes=size, seconds=taken, score=float(scores[name]))
