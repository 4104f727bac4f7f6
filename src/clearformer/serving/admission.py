"""One computation at a time and a short queue; a request that finds the queue full is refused at once.

A model keeps all cores busy by itself; two at a time would both be late. A queue without end would answer questions
that nobody waits for any more.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class BusyError(Exception):
    """The queue is full."""


class LeftError(Exception):
    """Whoever asked has left while the question waited."""


class Turns:
    """`with turns.mine():` waits for its turn, or raises BusyError when `waiting` others wait."""

    def __init__(self, waiting: int = 8) -> None:
        self._turn = threading.Lock()
        self._places = threading.Semaphore(waiting + 1)  # the one that works has a place too

    @contextmanager
    def mine(self, left: Callable[[], bool] = lambda: False) -> Iterator[None]:
        """left: says whether nobody waits for the answer any more; asked when the turn has come."""
        if not self._places.acquire(blocking=False):
            raise BusyError("the model is busy and the queue is full; try again in a moment")
        try:
            with self._turn:
                if left():
                    raise LeftError("nobody waits for this answer any more")
                yield
        finally:
            self._places.release()
