"""Stop when asked, not in the middle of a step: Ctrl-C and SIGTERM are noted, and the loop saves and leaves."""

import signal
import threading
from types import FrameType, TracebackType


class Stop:
    """Within a `with` block, a first signal sets `asked`; a second one is obeyed at once."""

    def __init__(self) -> None:
        self.asked = False
        self._before: dict[int, signal._HANDLER] = {}

    def __enter__(self) -> "Stop":
        if threading.current_thread() is not threading.main_thread():
            return self  # signals are the main thread's business
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._restore()

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        self._restore()

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}
