"""Several processes as one: the only file of this folder that knows of ranks.

Started by `torchrun`, every rank takes its own batches of the plan; sums of losses, tokens and gradients make the
result that of one process with all the batches. Started plainly, there is one rank and nothing to do.
"""

import os

import torch
import torch.distributed as dist
from torch import Tensor


class Ranks:
    """This process among its equals."""

    def __init__(self) -> None:
        self.rank = int(os.environ.get("RANK", "0"))
        self.count = int(os.environ.get("WORLD_SIZE", "1"))
        if self.count > 1 and not dist.is_initialized():
            dist.init_process_group("nccl" if torch.cuda.is_available() else "gloo")

    @property
    def first(self) -> bool:
        """Whether this process writes the files."""
        return self.rank == 0

    def sum(self, total: float, nll: float, tokens: int) -> tuple[float, float, int]:
        """Add up over ranks."""
        if self.count == 1:
            return total, nll, tokens
        sums = torch.tensor([total, nll, float(tokens)], dtype=torch.float64)
        dist.all_reduce(sums)
        return float(sums[0]), float(sums[1]), int(sums[2])

    def sum_tensors(self, tensors: list[Tensor]) -> None:
        """Add up gradients over ranks, in one message."""
        if self.count == 1:
            return
        flat = torch.cat([tensor.flatten() for tensor in tensors])
        dist.all_reduce(flat)
        for tensor, part in zip(tensors, torch.split(flat, [t.numel() for t in tensors]), strict=True):
            tensor.copy_(part.view_as(tensor))

    def wait(self) -> None:
        """Until every rank is here."""
        if self.count > 1:
            dist.barrier()

    def close(self) -> None:
        """Leave the group."""
        if self.count > 1 and dist.is_initialized():
            dist.destroy_process_group()
