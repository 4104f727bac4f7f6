"""What the machine can do at best: matrix products and memory copies, as a contender in the race.

A Transformer is matrix products for the most part, so their speed limits tokens per second; element-wise steps are
limited by how fast memory is read and written. `python -m clearformer.bench.machine_limits` reads a job from
standard input like any other contender, and takes turns with them.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch

SIDE = 2048  # of the matrices: large enough for the library's best kernel, small enough not to heat the processor
COPIED = 1 << 28  # bytes, several times any cache


def product_case(threads: int) -> str:
    """The name of the case of matrix products."""
    return f"matrix product, {threads} thread{'s' if threads > 1 else ''}"


def copy_case(threads: int) -> str:
    """The name of the case of memory copies."""
    return f"memory copy, {threads} thread{'s' if threads > 1 else ''}"


def measure(threads: int, seconds: float) -> Iterator[dict[str, Any]]:
    """Both limits with one thread and with all of them, as readings."""
    for count in sorted({1, threads}):
        torch.set_num_threads(count)
        a, b = torch.randn(SIDE, SIDE), torch.randn(SIDE, SIDE)
        out = torch.empty(SIDE, SIDE)
        spent = _typical(lambda a=a, b=b, out=out: torch.mm(a, b, out=out), seconds)  # type: ignore[misc]
        yield {"case": product_case(count), "unit": "GFLOP", "count": 2 * SIDE**3 / 1e9, "seconds": spent}
        source, target = torch.ones(COPIED // 4), torch.empty(COPIED // 4)
        spent = _typical(lambda source=source, target=target: target.copy_(source), seconds)  # type: ignore[misc]
        yield {"case": copy_case(count), "unit": "GB", "count": 2 * COPIED / 1e9, "seconds": spent}


def _typical(work: Callable[[], object], seconds: float) -> float:
    """The median time of one call, after a first one that warms up."""
    work()
    spent: list[float] = []
    while sum(spent) < seconds or len(spent) < 3:
        started = time.perf_counter()
        work()
        spent.append(time.perf_counter() - started)
    return statistics.median(spent)


def main() -> None:
    """Read the job, measure, print the results."""
    job = json.load(sys.stdin)
    for reading in measure(job["threads"], min(2.0, job["seconds"] / 4)):
        sys.stdout.write(json.dumps({**reading, "version": torch.__version__}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
