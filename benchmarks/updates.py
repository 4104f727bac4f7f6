"""Training for all peers that are PyTorch libraries: the same batches as tensors, one clock, one optimiser."""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from itertools import cycle

import numpy as np
import torch
from protocol import WARM_UP, Job
from torch import Tensor, nn

STRANGE = 3.0  # how far a first loss may be from the logarithm of the vocabulary size, the loss of a uniform guess


@dataclass(frozen=True)
class Batch:
    """Sentence pairs with the fields that frameworks need. True in a keep mask: a real token."""

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


def train(job: Job, model: nn.Module, loss: Callable[[Batch], Tensor], *, package: str) -> None:
    """Time whole updates: batch, loss (summed over target tokens), gradients, clipping, Adam.

    A peer without its own optimiser gets PyTorch's fused Adam, the fastest, and does not wait for a data loader.
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

    following = batches(job)
    losses = [update(next(following)) for _ in range(WARM_UP)]
    if not abs(losses[0] - math.log(job.vocab_size)) < STRANGE:
        raise ValueError(f"a first loss of {losses[0]:g} is not that of a fresh model; its program here is wrong")
    tokens, started = 0, time.perf_counter()
    while (spent := time.perf_counter() - started) < job.seconds:
        batch = next(following)
        losses.append(update(batch))
        tokens += batch.tokens
    job.report(
        job.case, "target tokens", tokens, spent,
        version=metadata.version(package), parameters=sum(p.numel() for p in trained),
        updates=len(losses) - WARM_UP, first_loss=losses[0], last_loss=losses[-1],
    )  # fmt: skip


def batches(job: Job) -> Iterator[Batch]:
    """The same batches in the same order for all peers, repeated."""
    held = np.load(job.folder / "batches.npz")
    sources, targets = (
        [row.tolist() for row in np.split(held[side], held[f"{side}_ends"][:-1])] for side in ("source", "target")
    )
    for rows in cycle(np.split(held["rows"], held["row_ends"][:-1])):
        source, source_lengths = pad([[*sources[row], job.eos] for row in rows], job.pad)
        target, target_lengths = pad([[job.bos, *targets[row], job.eos] for row in rows], job.pad)
        yield Batch(source, source_lengths, target, target_lengths - 1)


def begin(job: Job) -> None:
    """Before a model is built: the same thread count and seed for all peers."""
    torch.set_num_threads(job.threads)
    torch.manual_seed(1)


def pad(rows: list[list[int]], filler: int) -> tuple[Tensor, Tensor]:
    """Rows padded on the right, and their lengths."""
    longest = max(map(len, rows))
    filled = torch.tensor([[*row, *[filler] * (longest - len(row))] for row in rows])
    return filled, torch.tensor([len(row) for row in rows])
