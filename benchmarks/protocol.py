"""What every contender's program shares: the job, and the clock for decoding. `updates.py` has the one for training.

The rules of the protocol are in clearformer/bench/race.py. Nothing heavy is imported here: what a program does not need
must not take up its memory.
"""

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from importlib import metadata
from itertools import cycle
from pathlib import Path
from typing import Any

WARM_UP = 2  # updates or sentences before the clock starts


class Assignment:
    """What this turn is about. Whatever a library prints goes to stderr; only results go to stdout."""

    def __init__(self) -> None:
        self.given: dict[str, Any] = json.load(sys.stdin)
        self.task, self.case, self.options = (self.given[name] for name in ("task", "case", "options"))
        self.threads, self.seconds = self.given["threads"], self.given["seconds"]
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)

    def report(self, case: str, unit: str, count: float, seconds: float, **facts: Any) -> None:
        line = {"case": case, "unit": unit, "count": count, "seconds": seconds, **facts}
        print(json.dumps(line), file=self._out, flush=True)


class Job(Assignment):
    """A text to learn from or to translate."""

    def __init__(self) -> None:
        super().__init__()
        self.model: dict[str, Any] = self.given["model"]
        self.work: dict[str, Any] = self.given["work"]
        self.folder = Path(self.work["folder"])
        self.pad, self.bos, self.eos = (self.work[name] for name in ("pad", "bos", "eos"))
        self.layers, self.dim, self.heads, self.hidden_dim, self.vocab_size, self.dropout = (
            self.model[name] for name in ("layers", "dim", "heads", "hidden_dim", "vocab_size", "dropout")
        )

    @property
    def smoothing(self) -> float:
        return self.given["smoothing"]

    @property
    def length(self) -> int:
        """Tokens of every translation, the end token included."""
        return self.given["length"]

    @property
    def model_folder(self) -> Path:
        """A model of this package's, with random weights and the sizes of the job."""
        return Path(self.given["model_folder"])

    def sources(self) -> list[list[int]]:
        """The sentences to translate, with their end token."""
        import numpy as np

        held = np.load(self.folder / "sources.npz")
        return [row.tolist() for row in np.split(held["source"], held["source_ends"][:-1])]


Translate = Callable[[list[list[int]], int], int]  # sentences and beam -> tokens written


def decode(job: Job, translate: Translate, *, package: str, whole: bool = False) -> None:
    """Time greedy search and beam 4, in batches of 64 and one sentence at a time.

    whole: pass all sentences at once, for engines that make batches of 64 themselves. Otherwise they
    come sorted by length and cut, which is the batching that a careful user would write.
    """
    sources = job.sources()[: job.given["sentences"]]
    ordered = sorted(sources, key=len, reverse=True)
    batches = [sources] if whole else [ordered[start : start + 64] for start in range(0, len(ordered), 64)]
    facts = {"version": metadata.version(package)}
    for beam in (1, 4):
        name = "greedy" if beam == 1 else f"beam {beam}"
        for few in sources[:WARM_UP], sources[:64]:
            _clock(job, translate, few, beam)
        # Whole passes only: the long sentences come first, and a slow engine must not be measured on them alone.
        times: list[float] = []
        while sum(times) < job.seconds:
            times += [_clock(job, translate, batch, beam) for batch in batches]
        count = len(sources) * len(times) // len(batches)
        job.report(f"{job.case}, {name}, batch 64", "sentences", count, sum(times), beam=beam, **facts)
        times = []
        for source in cycle(sources):
            times.append(_clock(job, translate, [source], beam))
            if sum(times) >= job.seconds:
                break
        middle = statistics.median(times)
        job.report(f"{job.case}, {name}, one sentence", "sentences", len(times), sum(times), latency=middle, **facts)


def _clock(job: Job, translate: Translate, batch: list[list[int]], beam: int) -> float:
    """Seconds of one call, which must have written as many tokens as all other engines."""
    started = time.perf_counter()
    written = translate(batch, beam)
    spent = time.perf_counter() - started
    if written != job.length * len(batch):
        raise ValueError(f"wrote {written} tokens for {len(batch)} sentences instead of {job.length} for each")
    return spent
