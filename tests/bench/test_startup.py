"""Start-up is timed command by command."""

import sys
from pathlib import Path

from clearformer.bench import startup
from clearformer.bench.contenders import Contender

OURS = Contender(name="clearformer", title="us", package="clearformer", tasks=("train",), imports="clearformer")
PEER = Contender(name="json", title="a peer", package="json", tasks=("train",), imports="json", commands=("nowhere",))
QUICK = (sys.executable, "-c", "")


def test_a_peer_is_imported_and_a_program_that_is_not_there_is_not_timed():
    assert startup.commands(PEER, None) == {startup.IMPORT: (sys.executable, "-c", "import json")}


def test_only_this_package_is_asked_to_translate():
    assert startup.TRANSLATE in startup.commands(OURS, Path("model"))
    assert startup.TRANSLATE not in startup.commands(PEER, Path("model"))


def test_a_turn_is_one_start():
    [reading] = startup.take_turn("us", "import", QUICK, limit=60).readings
    assert reading.case == "import"
    assert reading.latency == reading.seconds > 0


def test_what_fails_says_why():
    turn = startup.take_turn("us", "import", (sys.executable, "-c", "import no_such_thing"), limit=60)
    assert turn.failure == "ModuleNotFoundError: No module named 'no_such_thing'"


def test_what_hangs_is_ended():
    turn = startup.take_turn("us", "import", (sys.executable, "-c", "import time; time.sleep(600)"), limit=2)
    assert "timed out" in (turn.failure or "")


def test_the_first_round_warms_the_disk_and_is_not_counted():
    turns = startup.race({"a": {"x": QUICK}, "b": {"x": QUICK}}, repeats=2, limit=60)
    assert [turn.name for turn in turns["x"]] == ["a", "b", "a", "b"]


def test_whether_the_machine_was_idle_is_asked_of_a_round(monkeypatch):
    asked = iter([9.0, 0.25, 0.5])  # the first round is not counted
    monkeypatch.setattr(startup.idleness, "used_by_others", lambda before, after, ours: next(asked))
    turns = startup.race({"a": {"x": QUICK}, "b": {"x": QUICK}}, repeats=2, limit=60)
    assert [turn.others for turn in turns["x"]] == [0.25, 0.25, 0.5, 0.5]


def test_one_command_that_fails_takes_no_other_with_it():
    turns = startup.race({"a": {"x": (sys.executable, "-c", "exit(3)"), "y": QUICK}}, repeats=2, limit=60)
    assert [turn.failure for turn in turns["x"]] == ["ended with code 3"]
    assert [turn.failure for turn in turns["y"]] == [None, None]


def test_a_footprint_that_cannot_be_had_says_why():
    assert "json" in startup.footprint_of(PEER)["failure"]
