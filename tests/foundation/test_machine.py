"""Cores, the cache folder, and freed memory that stays with the process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from clearformer.foundation.machine import cores

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


FILL = """
import numpy
from clearformer.foundation.machine import resident_bytes
before = resident_bytes()
filled = numpy.ones(20_000_000)  # 160 MB
print("unknown" if before is None else resident_bytes() - before)
"""


def test_what_a_process_holds_grows_with_what_it_fills():
    """In a process of its own, which has nothing that was freed before and could be used again."""
    done = subprocess.run([sys.executable, "-c", FILL], capture_output=True, text=True, check=True)
    if done.stdout.strip() == "unknown":
        pytest.skip("this system does not tell")
    assert 150e6 < int(done.stdout) < 200e6


@pytest.mark.parametrize("chosen", [None, "COMPATIBLE"])
def test_sums_are_alike_in_any_batch_unless_somebody_wants_them_otherwise(chosen):
    """Said to the matrix library of Intel's processors before the first product."""
    environment = {name: value for name, value in os.environ.items() if name != "MKL_CBWR"}
    if chosen:
        environment["MKL_CBWR"] = chosen
    script = "import os, clearformer; print(os.environ.get('MKL_CBWR'))"
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    intel = Path("/proc/cpuinfo").is_file() and "GenuineIntel" in Path("/proc/cpuinfo").read_text()
    assert done.stdout.strip() == (chosen or ("AUTO,STRICT" if intel else "None"))
