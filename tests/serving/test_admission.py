"""One at a time, few waiting."""

import threading

import pytest

from clearformer.serving.admission import BusyError, LeftError, Turns


def test_one_works_while_others_wait():
    turns, working, most = Turns(waiting=3), 0, 0
    lock = threading.Lock()

    def work():
        nonlocal working, most
        with turns.mine():
            with lock:
                working += 1
                most = max(most, working)
            with lock:
                working -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


def test_who_comes_to_a_full_queue_is_told_so():
    turns = Turns(waiting=0)
    with turns.mine(), pytest.raises(BusyError, match="try again"), turns.mine():
        pass


def test_who_has_left_does_not_hold_up_the_others():
    """Whether somebody still waits is asked when the turn has come, not before; the turn is then given back."""
    turns, asked = Turns(waiting=0), []

    def left():
        asked.append(turns._turn.locked())
        return True

    with pytest.raises(LeftError, match="nobody waits"), turns.mine(left):
        raise AssertionError
    assert asked == [True]
    with turns.mine():
        pass


def test_a_failure_gives_the_turn_back():
    turns = Turns(waiting=0)
    with pytest.raises(ZeroDivisionError), turns.mine():
        _ = 1 / 0
    with turns.mine():
        pass
