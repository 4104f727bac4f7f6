"""One connection of the server: the head of a request has to arrive in time. (The body is the guard's matter.)"""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol


class Connection(H11Protocol):
    """uvicorn's connection, which by itself waits for ever for the rest of a head."""

    head_seconds = 10.0
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_watching()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """A head is waited for before the first request, and as soon as a further one has begun."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_watching()
        elif self._timer is None:
            self._timer = self.loop.call_later(self.head_seconds, self.transport.close)

    def _stop_watching(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def with_patience(seconds: float) -> type[Connection]:
    """Connections that wait so long for a head."""
    return type("Connection", (Connection,), {"head_seconds": seconds})
