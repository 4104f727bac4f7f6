"""What every contender's program shares: the job, the batches, the clock. See clearformer/bench/race.py for the rules.

Only torch, numpy and the standard library are needed here, because each peer has an environment of its own.
"""

import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

WARM_UP = 2  # updates or batches before the clock starts


@dataclass(frozen=True)
class Batch:
    """Sentence pairs as every framework wants them in one way or another. True in a keep mask: a real token."""

    source: Tensor  # B S: x eos
    source_lengths: Tensor  # B
    target: Tensor  # B T+1: bos y eos
    target_lengths: Tensor  # B, of y eos

    @property
    def target_in(self) -> Tensor:
        return self.target[:, :-1]

    @property
    def target_out(self) -> Tensor:
        return self.target[:, 1:]

    @property
    def source_keep(self) -> Tensor:
        return torch.arange(self.source.size(1))[None] < self.source_lengths[:, None]

    @property
    def tokens(self) -> int:
        """Target tokens that are learned from, the end token among them."""
        return int(self.target_lengths.sum())


class Job:
    """What this turn is about. Whatever a library prints goes to stderr; only results go to stdout."""

    def __init__(self) -> None:
        self.given: dict[str, Any] = json.load(sys.stdin)
        self.task, self.case, self.options = (self.given[name] for name in ("task", "case", "options"))
        self.threads, self.seconds = self.given["threads"], self.given["seconds"]
        self.model: dict[str, Any] = self.given["model"]
        self.work: dict[str, Any] = self.given["work"]
        self.folder = Path(self.work["folder"])
        self.pad, self.bos, self.eos = (self.work[name] for name in ("pad", "bos", "eos"))
        self.layers, self.dim, self.heads, self.hidden_dim, self.vocab_size, self.dropout = (
            self.model[name] for name in ("layers", "dim", "heads", "hidden_dim", "vocab_size", "dropout")
        )
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)
        torch.set_num_threads(self.threads)
        torch.manual_seed(1)

    @property
    def smoothing(self) -> float:
        return self.given["smoothing"]

    @property
    def length(self) -> int:
        """Tokens that every translation is made to have, the end token included."""
        return self.given["length"]

    @property
    def model_folder(self) -> Path:
        """A model of this package's, with random weights and the sizes of the job."""
        return Path(self.given["model_folder"])

    def report(self, case: str, unit: str, count: float, seconds: float, **facts: Any) -> None:
        line = {"case": case, "unit": unit, "count": count, "seconds": seconds, **facts}
        print(json.dumps(line), file=self._out, flush=True)

    def batches(self) -> Iterator[Batch]:
        """The same batches in the same order for everybody, again and again."""
        held = np.load(self.folder / "batches.npz")
        sources = np.split(held["source"], held["source_ends"][:-1])
        targets = np.split(held["target"], held["target_ends"][:-1])
        for rows in cycle(np.split(held["rows"], held["row_ends"][:-1])):
            source, source_lengths = pad([[*sources[row], self.eos] for row in rows], self.pad)
            target, target_lengths = pad([[self.bos, *targets[row], self.eos] for row in rows], self.pad)
            yield Batch(source, source_lengths, target, target_lengths - 1)

    def sources(self) -> list[list[int]]:
        """The sentences to translate, with their end token."""
        held = np.load(self.folder / "sources.npz")
        return [row.tolist() for row in np.split(held["source"], held["source_ends"][:-1])]


def pad(rows: list[list[int]], filler: int) -> tuple[Tensor, Tensor]:
    """Rows filled up on the right, and their lengths."""
    longest = max(map(len, rows))
    filled = torch.tensor([[*row, *[filler] * (longest - len(row))] for row in rows])
    return filled, torch.tensor([len(row) for row in rows])


def train(job: Job, model: nn.Module, loss: Callable[[Batch], Tensor], *, package: str) -> None:
    """Time whole updates: batch, loss (summed over target tokens), gradients, clipping, Adam.

    A peer without an opinion on optimisers gets PyTorch's fused Adam, the fastest there is, and is not made to wait for
    a data loader.
    """
    model.train()
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimiser = torch.optim.Adam(trained, lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True)

    def update(batch: Batch) -> float:
        optimiser.zero_grad(set_to_none=True)
        mean = loss(batch) / batch.tokens
        mean.backward()
        nn.utils.clip_grad_norm_(trained, 1.0)
        optimiser.step()
        return mean.item()

    batches = job.batches()
    losses = [update(next(batches)) for _ in range(WARM_UP)]
    tokens, started = 0, time.perf_counter()
    while (spent := time.perf_counter() - started) < job.seconds:
        batch = next(batches)
        losses.append(update(batch))
        tokens += batch.tokens
    job.report(
        job.case, "target tokens", tokens, spent,
        version=metadata.version(package), parameters=sum(p.numel() for p in trained),
        updates=len(losses) - WARM_UP, first_loss=losses[0], last_loss=losses[-1],
    )  # fmt: skip


Translate = Callable[[list[list[int]], int], int]  # sentences and beam -> tokens written


def decode(job: Job, translate: Translate, *, package: str, whole: bool = False) -> None:
    """Time greedy search and beam 4, in batches of 64 and one sentence at a time.

    whole: hand over all sentences at once, for engines that make batches of 64 of them by themselves. Otherwise they
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
        # Whole passes only: the long sentences come first, and whoever is slow must not be measured on them alone.
        times: list[float] = []
        while sum(times) < job.seconds:
            times += [_clock(job, translate, batch, beam) for batch in batches]
        count = len(sources) * len(times) // len(batches)
        job.report(f"{job.case}, {name}, batch 64", "sentences", count, sum(times), **facts)
        times = []
        for source in cycle(sources):
            times.append(_clock(job, translate, [source], beam))
            if sum(times) >= job.seconds:
                break
        middle = statistics.median(times)
        job.report(f"{job.case}, {name}, one sentence", "sentences", len(times), sum(times), latency=middle, **facts)


def _clock(job: Job, translate: Translate, batch: list[list[int]], beam: int) -> float:
    """Seconds of one call, which must have written as much as everybody else's."""
    started = time.perf_counter()
    written = translate(batch, beam)
    spent = time.perf_counter() - started
    if written != job.length * len(batch):
        raise ValueError(f"wrote {written} tokens for {len(batch)} sentences instead of {job.length} for each")
    return spent
