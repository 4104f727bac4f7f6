"""Cores, the cache folder, and freed memory that stays with the process."""

import subprocess
import sys

import pytest

from clearformer.foundation.machine import cores, resident_bytes

# NumPy asks plainly for memory. PyTorch wants it aligned, which does not always fit into the hole left by its equal.
MEASURE = """
import resource, sys
import numpy
from clearformer.foundation.machine import keep_freed_memory
if sys.argv[1] == "keep" and not keep_freed_memory():
    print("no glibc"); raise SystemExit
numpy.ones(5_000_000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    numpy.ones(5_000_000)  # 40 MB, freed at once
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def faults(how):
    done = subprocess.run([sys.executable, "-c", MEASURE, how], capture_output=True, text=True, check=True)
    if done.stdout.strip() == "no glibc":
        pytest.skip("this system's C library is not glibc")
    return int(done.stdout)


def test_memory_that_was_freed_is_used_again():
    assert 4 * faults("keep") < faults("as it is")


def test_at_least_one_core_is_used():
    assert len(cores()) >= 1


def test_what_a_process_holds_grows_with_what_it_fills():
    import numpy as np

    before = resident_bytes()
    if before is None:
        pytest.skip("this system does not tell")
    filled = np.ones(20_000_000)  # 160 MB
    after = resident_bytes()
    assert after is not None
    assert 0.9 * filled.nbytes < after - before < 1.5 * filled.nbytes
