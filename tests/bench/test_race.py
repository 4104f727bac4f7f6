"""Contenders are strangers: they crash, hang, print what they like, and leave children behind."""

import json
import os
import sys
import time
from pathlib import Path

import pytest

from clearformer.bench.race import ProtocolError, Runner, parse_readings, race, take_turn

GOOD = {"case": "tiny", "unit": "target tokens", "count": 100, "seconds": 2.0}


def contender(code: str, name: str = "peer", **more) -> Runner:
    return Runner(name=name, command=(sys.executable, "-c", code), **more)


def says(line: dict) -> str:
    return f"print({json.dumps(json.dumps(line))})"


def test_a_result_is_count_over_time():
    [reading] = parse_readings(json.dumps({**GOOD, "latency": 0.5, "version": "1.2"}))
    assert reading.rate == 50.0
    assert reading.latency == 0.5
    assert reading.facts == {"version": "1.2"}


@pytest.mark.parametrize(
    "line",
    [
        "Loading model …",
        "[1, 2]",
        "{}",
        json.dumps({**GOOD, "count": None}),
        json.dumps({**GOOD, "seconds": 0}),
        json.dumps({**GOOD, "seconds": -1}),
        json.dumps({**GOOD, "count": float("nan")}),
        json.dumps({**GOOD, "count": float("inf")}),
        json.dumps({**GOOD, "latency": "fast"}),
    ],
)
def test_what_is_no_figure_gets_into_no_table(line):
    with pytest.raises(ProtocolError):
        parse_readings(line)


def test_silence_is_not_a_result():
    with pytest.raises(ProtocolError, match="ended without a result"):
        parse_readings("\n")


def test_the_job_reaches_the_contender_and_the_result_comes_back():
    echo = "import json, sys; job = json.load(sys.stdin); print(json.dumps({**job['wanted'], 'told': job['options']}))"
    turn = take_turn(contender(echo, options={"compute": "int8"}), {"wanted": GOOD}, limit=60)
    assert turn.failure is None
    assert turn.readings[0].facts == {"told": {"compute": "int8"}}


def test_a_crash_is_reported_with_its_last_words():
    turn = take_turn(contender("raise RuntimeError('no such kernel')"), {}, limit=60)
    assert turn.failure == "ended with code 1: RuntimeError: no such kernel"
    assert not turn.readings


def test_a_killed_contender_is_reported_by_the_signal():
    turn = take_turn(contender("import os; os.kill(os.getpid(), 9)"), {}, limit=60)
    assert turn.failure == "was ended by SIGKILL"


def test_a_program_that_is_not_there_is_reported():
    turn = take_turn(Runner(name="gone", command=("/nowhere/python",)), {}, limit=60)
    assert "could not be started" in (turn.failure or "")


def test_one_that_hangs_is_ended_with_its_children(tmp_path):
    """The grandchild writes its number and sleeps for an hour; after the turn nobody of that number is left."""
    note = tmp_path / "pid"
    code = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(3600)'])\n"
        f"open({str(note)!r}, 'w').write(str(child.pid))\n"
        "time.sleep(3600)\n"
    )
    turn = take_turn(contender(code), {}, limit=5)
    assert turn.failure == "was not done after 5 s and was ended"
    child = int(note.read_text())
    for _ in range(100):  # the kernel may take a moment to clear it away
        if not _alive(child):
            break
        time.sleep(0.1)
    assert not _alive(child)


def _alive(number: int) -> bool:
    try:
        os.kill(number, 0)
        return Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_chatter_is_a_breach_of_the_protocol_and_named():
    turn = take_turn(contender(f"print('Welcome!'); {says(GOOD)}"), {}, limit=60)
    assert "said 'Welcome!' where a result" in (turn.failure or "")


def test_contenders_take_turns():
    order = []
    runners = [contender(says(GOOD), "a"), contender(says(GOOD), "b")]
    race(runners, {}, repeats=2, limit=60, watch=lambda turn: order.append(turn.name))
    assert order == ["a", "b", "a", "b"]


def test_who_fails_is_not_asked_again_and_the_others_go_on():
    runners = [contender("raise SystemExit(3)", "broken"), contender(says(GOOD), "fine")]
    turns = race(runners, {}, repeats=3, limit=60)
    assert [turn.name for turn in turns] == ["broken", "fine", "fine", "fine"]


def test_the_shell_of_the_caller_does_not_choose_the_threads(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    code = f"import os; {says(GOOD)} if 'OMP_NUM_THREADS' not in os.environ else exit(1)"
    assert take_turn(contender(code), {}, limit=60).failure is None


def test_a_row_has_its_own_variables():
    code = f"import os; {says(GOOD)} if os.environ['MALLOC_TOP_PAD_'] == '64' else exit(1)"
    assert take_turn(contender(code, variables={"MALLOC_TOP_PAD_": "64"}), {}, limit=60).failure is None


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system does not bind processes to processors")
def test_a_contender_gets_as_many_processors_as_it_has_threads():
    before = os.sched_getaffinity(0)
    code = "import json, os; print(json.dumps({'case': 'c', 'unit': 'cores', 'seconds': 1, " \
           "'count': len(os.sched_getaffinity(0))}))"  # fmt: skip
    assert take_turn(contender(code), {"threads": 1}, limit=60).readings[0].count == 1
    assert os.sched_getaffinity(0) == before


@pytest.mark.skipif(not Path("/proc/stat").exists(), reason="there is no /proc here")
def test_memory_of_children_is_counted():
    grand = "data = b'x' * (80 << 20); import time; time.sleep(2)"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {grand!r}]); {says(GOOD)}"
    turn = take_turn(contender(code), {}, limit=60)
    assert (turn.peak_bytes or 0) > 80 << 20
    assert turn.others is not None
