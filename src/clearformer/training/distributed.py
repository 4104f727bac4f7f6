"""Several processes as one: the only file of this folder that knows of ranks.

Started by `torchrun`, every rank takes its own batches of the plan; sums of losses, tokens and gradients make the
result that of one process with all the batches. Started plainly, there is one rank and nothing to do. Whatever decides
how the run goes on (a better score, a wish to stop) is agreed on, or the ranks would wait for one another for ever.
"""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from itertools import zip_longest
from typing import Any, Self, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.distributed_c10d import PrefixStore
from torch.distributed.rendezvous import rendezvous

T = TypeVar("T")
_NOTHING: Any = object()
PATIENCE = timedelta(days=1)  # the first rank may prepare a large corpus while the others wait


class Ranks:
    """This process among its equals."""

    def __init__(self) -> None:
        self.rank = int(os.environ.get("RANK", "0"))
        self.count = int(os.environ.get("WORLD_SIZE", "1"))
        if self.count > 1 and not dist.is_initialized():
            self._join()

    @classmethod
    def alone(cls) -> Self:
        """One process by itself, whoever else there is: for what the first rank does while the others wait."""
        made = cls.__new__(cls)
        made.rank, made.count = 0, 1
        return made

    def _join(self) -> None:
        """Meet the other ranks. Numbers go through gloo, gradients on a graphics card through nccl.

        When torchrun starts the ranks again, its store still holds the addresses of the dead ones: a name for each
        attempt keeps them apart.
        """
        store, rank, count = next(rendezvous("env://", timeout=PATIENCE))
        attempt = PrefixStore(f"attempt-{os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}", store)
        backend = "cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo"
        dist.init_process_group(backend, store=attempt, rank=rank, world_size=count, timeout=PATIENCE)

    @property
    def device(self) -> torch.device:
        """Where this process computes: the graphics card that torchrun counts to it, or the processor."""
        if not torch.cuda.is_available():
            return torch.device("cpu")
        return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))

    @property
    def first(self) -> bool:
        """Whether this process writes the files."""
        return self.rank == 0

    def sum(self, *numbers: float) -> tuple[float, ...]:
        """Add up over ranks."""
        if self.count == 1:
            return numbers
        sums = torch.tensor(numbers, dtype=torch.float64)
        dist.all_reduce(sums)
        return tuple(sums.tolist())

    def sum_tensors(self, tensors: list[Tensor]) -> None:
        """Add up gradients over ranks, in one message."""
        if self.count == 1:
            return
        flat = torch.cat([tensor.flatten() for tensor in tensors])
        dist.all_reduce(flat)
        for tensor, part in zip(tensors, torch.split(flat, [t.numel() for t in tensors]), strict=True):
            tensor.copy_(part.view_as(tensor))

    def share_out(self, items: Sequence[T]) -> list[T]:
        """This rank's part of work that all do together: every count-th item."""
        return list(items[self.rank :: self.count])

    def collect(self, parts: Sequence[T]) -> list[T]:
        """The results of all ranks, on every rank, in the order of the work that was shared out; what JSON can say."""
        if self.count == 1:
            return list(parts)
        message = torch.frombuffer(bytearray(json.dumps(list(parts)).encode()), dtype=torch.uint8)
        sizes = [*map(int, self.sum(*(len(message) * (rank == self.rank) for rank in range(self.count))))]
        room = torch.zeros(max(sizes), dtype=torch.uint8)
        room[: len(message)] = message
        received = [torch.zeros_like(room) for _ in sizes]
        dist.all_gather(received, room)
        lists = [json.loads(bytes(one[:size].tolist())) for one, size in zip(received, sizes, strict=True)]
        return [item for row in zip_longest(*lists, fillvalue=_NOTHING) for item in row if item is not _NOTHING]

    def any(self, wish: bool) -> bool:
        """Whether some rank says yes: a signal may reach one of them a step before the others."""
        return self.sum(float(wish))[0] > 0

    def share(self, number: float) -> float:
        """What the first rank says; the others' numbers do not matter."""
        return self.sum(number if self.first else 0.0)[0]

    def wait(self) -> None:
        """Until every rank is here."""
        if self.count > 1:
            dist.barrier()

    @contextmanager
    def first_then_others(self) -> Iterator[None]:
        """The first rank does a thing that makes files; then the others do it too, and find them made."""
        if not self.first:
            self.wait()
        yield
        if self.first:
            self.wait()

    def close(self) -> None:
        """Leave the group."""
        if self.count > 1 and dist.is_initialized():
            dist.destroy_process_group()
