"""What a process is told before it trains: keep the memory that it frees, and take tiny numbers for zero.

The moments of an embedding that is not met again shrink by a tenth at each step. After some 850 steps they are smaller
than the smallest ordinary number, and a processor needs twice as long for each of them.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from clearformer.foundation.machine import keep_freed_memory

SMALL = 2.0**-1030  # below the smallest ordinary number of 64 bits


@contextmanager
def suited_to_training() -> Iterator[None]:
    """Tiny numbers are zero inside. Worker threads that are made there take the setting over; this thread has its own
    back afterwards.
    """
    keep_freed_memory()
    before = tiny_is_zero()
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(before)


def tiny_is_zero() -> bool:
    """Whether this thread takes tiny numbers for zero."""
    return float(torch.full((1,), SMALL, dtype=torch.float64).mul_(1.0)[0]) == 0.0
