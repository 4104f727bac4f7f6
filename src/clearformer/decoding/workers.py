"""Several batches at once, each on its own core.

The matrix products of a small model are too small to share: two threads on one product wait for each other longer than
they work. Two batches in parallel, one thread each, do not wait at all. Python's lock is no obstacle, because torch
releases it while it computes.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import torch

Item = TypeVar("Item")
Result = TypeVar("Result")


def side_by_side(function: Callable[[Item], Result], items: Sequence[Item], workers: int) -> Iterator[Result]:
    """The results in the order of the items. Each item is computed by one thread, however many items there are, so that
    its numbers do not depend on their count."""
    if min(workers, len(items)) <= 1:
        with single_thread():
            yield from map(function, items)
        return
    threads, count = torch.get_num_threads(), min(workers, len(items))
    try:
        with ThreadPoolExecutor(count, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            futures = [pool.submit(function, item) for item in items]
            try:
                for future in futures:
                    yield future.result()
            finally:
                for future in futures:
                    future.cancel()
    finally:
        torch.set_num_threads(threads)  # each thread has its own setting, and new threads inherit the last one set


@contextmanager
def single_thread() -> Iterator[None]:
    """Within the block torch computes on the calling thread alone."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
