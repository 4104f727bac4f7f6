"""Whether the machine was idle is decided from the kernel's own counters."""

import os
import subprocess
import sys

import pytest

from clearformer.bench import idleness
from clearformer.bench.idleness import (
    Busy,
    Moment,
    Process,
    busiest,
    parse_busy,
    parse_high_water,
    parse_process,
    used_by_others,
)

STAT = "cpu  100 20 30 5000 7 1 2 40 0 0\ncpu0 50 10 15 2500 3 0 1 20 0 0\n"
PROCESS = "4242 (a (strange) name) S 1 4242 77 0 -1 4194304 1 2 3 4 150 50 0 0 20 0 1 0 9 8 7"


def at(worked: float, seconds: float, stolen: float = 0.0) -> Busy:
    return Busy(worked=worked, stolen=stolen, at=seconds)


def test_waiting_is_not_work():
    """user + nice + system + irq + softirq; idle and iowait do not count, and stolen time is counted apart."""
    assert parse_busy(STAT) == (100 + 20 + 30 + 1 + 2, 40)


def test_counters_of_another_kind_are_refused():
    with pytest.raises(ValueError, match="instead of the counters"):
        parse_busy("intr 1 2 3")


def test_what_we_used_ourselves_is_taken_off():
    assert used_by_others(at(10.0, 0.0), at(30.0, 10.0), ours=15.0) == pytest.approx(0.5)


def test_time_taken_by_the_host_counts_as_others():
    assert used_by_others(at(0.0, 0.0), at(10.0, 10.0, stolen=5.0), ours=10.0) == pytest.approx(0.5)


def test_rounding_never_makes_others_negative():
    assert used_by_others(at(0.0, 0.0), at(10.0, 10.0), ours=10.4) == 0.0


def test_without_counters_nothing_is_known():
    assert used_by_others(None, at(1.0, 1.0), ours=0.0) is None


def test_a_name_may_hold_brackets():
    found = parse_process(PROCESS)
    assert (found.number, found.name, found.session) == (4242, "a (strange) name", 77)
    assert found.seconds == pytest.approx(200 / idleness.TICKS)


def test_the_busiest_are_named_with_their_cores():
    before = running(idle=5.0, train=100.0)
    after = running(idle=5.0, train=102.0, new=0.5)
    assert busiest(before, after, seconds=2.0) == ("train 1.0", "new 0.2")


def test_a_process_that_changed_its_name_is_the_same_process():
    assert busiest(running(worker=100.0), running(renamed=100.0), seconds=1.0) == ()


def running(**seconds: float) -> dict[int, Process]:
    named = enumerate(seconds.items())
    return {number: Process(number=number, name=name, session=1, seconds=spent) for number, (name, spent) in named}


def test_peak_memory_is_read_in_bytes():
    assert parse_high_water("Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t 1 kB\n") == 2048 * 1024
    assert parse_high_water("Name:\tzombie\n") == 0


@pytest.mark.parametrize(
    ("moment", "words"),
    [
        (Moment(load=0.0, cores=2, others=1.3, busiest=("train 1.3",)), r"used 1.3 of 2 cores \(train 1.3\)"),
        (Moment(load=1.9, cores=2, others=None), "load average was 1.9"),
    ],
)
def test_a_busy_machine_is_said_to_be_busy(moment, words):
    import re

    assert re.search(words, moment.disturbance() or "")


@pytest.mark.parametrize(
    "moment",
    [
        Moment(load=0.1, cores=2, others=0.02),
        Moment(load=1.5, cores=2, others=0.02),  # an average remembers what ended a minute ago
        Moment(load=0.2, cores=2, others=None),
    ],
)
def test_an_idle_machine_is_not(moment):
    assert moment.disturbance() is None


@pytest.mark.skipif(not idleness.PROC.joinpath("stat").exists(), reason="there is no /proc here")
def test_a_session_is_found_with_its_memory():
    with subprocess.Popen(
        [sys.executable, "-c", "data = b'x' * (64 << 20); print('here', flush=True); input()"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        process.stdout.readline()
        assert (idleness.peak_memory(process.pid) or 0) > 64 << 20
        process.communicate(b"\n")
    assert idleness.peak_memory(process.pid) is None


def test_the_machine_has_cores_and_a_name():
    assert set(idleness.cores()) <= set(range(os.cpu_count() or 1))
    assert idleness.processor_name()
