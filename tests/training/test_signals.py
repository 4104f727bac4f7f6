import os
import signal
import threading

import pytest

from clearformer.training.signals import Stop


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_first_signal_is_noted_and_nothing_else_happens(number):
    with Stop() as stop:
        assert not stop.asked
        os.kill(os.getpid(), number)
        assert stop.asked


def test_a_second_signal_is_obeyed_at_once():
    # A job in the background of a script is born with interrupts ignored; here they mean what they usually mean.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def press_twice():
        with Stop():
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)

    try:
        with pytest.raises(KeyboardInterrupt):
            press_twice()
    finally:
        signal.signal(signal.SIGINT, before)


def test_afterwards_signals_mean_what_they_meant_before():
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    with Stop():
        assert signal.getsignal(signal.SIGTERM) not in before
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_in_another_thread_there_are_no_signals_to_listen_to():
    """A notebook or a server may train in a thread."""
    asked = []

    def work():
        with Stop() as stop:
            asked.append(stop.asked)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert asked == [False]
