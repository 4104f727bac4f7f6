"""Open a port and serve an application on it until it is stopped."""

import logging
import socket
from collections.abc import Callable
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from clearformer.serving.connection import with_patience
from clearformer.serving.guard import LOOPBACK, Guard, Limits

log = logging.getLogger(__name__)


def open_port(host: str = "127.0.0.1", port: int = 0, *, tries: int = 20) -> socket.socket:
    """A listening socket. port 0: any free one. A port in use: the next ones are tried, `tries` in all."""
    last: OSError | None = None
    for candidate in [port] if port == 0 else range(port, min(port + tries, 65536)):
        listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, candidate))
        except OSError as error:
            listener.close()
            last = error
            continue
        listener.listen(64)
        return listener
    reason = last.strerror if last is not None else "there is no such port"
    raise ValueError(f"no port of {host} from {port} on could be opened ({reason}); give another --port")


def address_of(listener: socket.socket) -> str:
    """What to type into a browser."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(
    app: ASGIApp, listener: socket.socket, *, on_ready: Callable[[], None] | None = None, limits: Limits | None = None
) -> None:
    """Answer requests until Ctrl-C. Accepted as Host are the loopback names and the address that was opened."""
    host = listener.getsockname()[0]
    hosts = {*LOOPBACK, f"[{host}]" if ":" in host else host}
    limits = limits or Limits()
    guarded, connection = Guard(app, hosts=hosts, limits=limits), with_patience(limits.header_seconds)
    quiet: dict[str, Any] = {"log_level": "warning", "access_log": False, "server_header": False}
    server = _Server(uvicorn.Config(guarded, http=connection, ws="none", lifespan="off", **quiet))
    server.on_ready = on_ready
    server.run(sockets=[listener])


class _Server(uvicorn.Server):
    """Calls `on_ready` as soon as it answers requests."""

    on_ready: Callable[[], None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.on_ready is not None:
            self.on_ready()
