"""The lock: one holder at a time, free again when the holder is gone, even if it was killed."""

from __future__ import annotations

import subprocess
import sys

import pytest

from clearformer.foundation.locks import is_held, only_one

pytestmark = pytest.mark.timeout(60)

HOLD = """
import sys
from pathlib import Path
from clearformer.foundation.locks import only_one
with only_one(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that has the lock until its input ends or it is killed."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "lock")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_whoever_comes_second_is_told_who_to_wait_for(holder, tmp_path):
    with (
        pytest.raises(TimeoutError, match=r"lock for 0\.2 seconds: wait for it"),
        only_one(tmp_path / "lock", wait_seconds=0.2),
    ):
        pytest.fail("two processes held the lock")


def test_a_killed_holder_leaves_no_lock_behind(holder, tmp_path):
    holder.kill()
    with only_one(tmp_path / "lock", wait_seconds=20):
        pass


def test_the_lock_can_be_taken_again_after_an_error(tmp_path):
    with pytest.raises(ZeroDivisionError), only_one(tmp_path / "deep" / "lock"):
        raise ZeroDivisionError
    with only_one(tmp_path / "deep" / "lock", wait_seconds=0):
        pass


def test_one_can_ask_whether_it_is_held_without_taking_it(holder, tmp_path):
    lock = tmp_path / "lock"
    assert is_held(lock) is True
    holder.communicate("")
    assert [is_held(lock), is_held(lock)] == [False, False]
    with only_one(lock, wait_seconds=0):
        assert is_held(lock) is True
    assert is_held(tmp_path / "nothing") is None
    assert not (tmp_path / "nothing").exists()
