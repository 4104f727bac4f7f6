"""Dropout: in training each value is zeroed with probability `rate`; the others are scaled up to keep the mean.

PyTorch draws one random number per value, on one thread; on a CPU that takes a tenth of a training step. Here one draw
of 64 bits serves four values. The rate is exact to 1/65536, and the factor fits the rounded rate: the mean is exact.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch
import torch.nn.functional as F
from torch import Tensor, nn

LEVELS = 1 << 16  # values of the 16 bits that decide about one value
LOWEST = -(1 << 63)  # from here upwards a draw covers all 64 bits

_here = threading.local()


class Dropout(nn.Module):
    """`drop` as a module: does nothing in evaluation."""

    def __init__(self, rate: float = 0.0) -> None:
        super().__init__()
        if not 0 <= rate <= 1:
            raise ValueError(f"a dropout rate must be at least 0 and at most 1, not {rate}")
        self.rate = rate

    def forward(self, x: Tensor) -> Tensor:
        return drop(x, self.rate) if self.training else x

    def extra_repr(self) -> str:
        """What a printed model shows."""
        return f"{self.rate}"


def drop(x: Tensor, rate: float) -> Tensor:
    """Zero each value with this probability, and scale the others up."""
    if rate == 0:
        return x
    return x * kept(x, rate) if x.device.type == "cpu" else F.dropout(x, rate)


def kept(x: Tensor, rate: float) -> Tensor:
    """0 where a value of x is dropped, the scaling factor where it is kept."""
    dropped = round(rate * LEVELS)
    if dropped == LEVELS:
        return torch.zeros_like(x)
    bits = torch.empty((x.numel() + 3) // 4, dtype=torch.int64)
    bits.random_(LOWEST, None, generator=getattr(_here, "generator", None))
    decisive = bits.view(torch.int16)[: x.numel()].view(x.shape)  # evenly from -32768 to 32767
    return (decisive >= dropped - LEVELS // 2).to(x.dtype).mul_(LEVELS / (LEVELS - dropped))


@contextmanager
def drawing_from(generator: torch.Generator) -> Iterator[None]:
    """Let this thread draw from `generator`: threads that share the global generator would disturb each other."""
    before = getattr(_here, "generator", None)
    _here.generator = generator
    try:
        yield
    finally:
        _here.generator = before
