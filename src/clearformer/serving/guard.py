"""What stands before every request: who may ask, how much they may send, and what every answer carries.

A page on the internet can make a browser send requests to 127.0.0.1, and with a name that resolves there (DNS
rebinding) even read the answers. The Host header gives such a request away, so only hosts that we know are answered.
"""

import json
import logging
from collections.abc import Collection
from http import HTTPStatus

from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger(__name__)

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

# Nothing from elsewhere, nothing inline, no frames: a page can only be what this server has sent.
HEADERS = {
    "content-security-policy": "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class _TooLargeError(Exception):
    """The body went over the limit while it was read."""


class Guard:
    """Around an application: refuses strange hosts and origins and large bodies; never answers with a traceback."""

    def __init__(self, app: ASGIApp, *, hosts: Collection[str] = LOOPBACK, max_body: int = 1_000_000) -> None:
        self._app, self._hosts, self._max_body = app, frozenset(hosts), max_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # no web sockets here
            return
        refusal = self._refusal(_headers(scope))
        if refusal is not None:
            await answer(send, *refusal)
            return
        await self._pass_on(scope, receive, send)

    def _refusal(self, headers: dict[str, list[str]]) -> tuple[HTTPStatus, str] | None:
        hosts = headers.get("host", [])
        if len(hosts) != 1 or _without_port(hosts[0]) not in self._hosts:
            return HTTPStatus.MISDIRECTED_REQUEST, "this server answers to its own address only; open the printed link"
        origin = headers.get("origin", [""])[0]
        if origin and origin.partition("://")[2] != hosts[0]:
            return HTTPStatus.FORBIDDEN, "another site's page may not ask this server"
        length = headers.get("content-length", ["0"])[0]
        if not (length.isascii() and length.isdigit()) or int(length[:12]) > self._max_body:
            return HTTPStatus.REQUEST_ENTITY_TOO_LARGE, self._too_large()
        return None

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        read, started = 0, False

        async def count() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self._max_body:  # a body without an announced length
                raise _TooLargeError
            return message

        async def dress(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                own = {name.lower() for name, _ in message.get("headers", [])}
                extra = [(name.encode(), value.encode()) for name, value in HEADERS.items() if name.encode() not in own]
                message = {**message, "headers": [*message.get("headers", []), *extra]}
            await send(message)

        try:
            await self._app(scope, count, dress)
        except _TooLargeError:
            await answer(send, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, self._too_large())
        except Exception:
            log.exception("%s %s failed", scope["method"], scope["path"])
            if not started:
                await answer(
                    send, HTTPStatus.INTERNAL_SERVER_ERROR, "something went wrong here; the server's log says what"
                )

    def _too_large(self) -> str:
        return f"the request is larger than the {self._max_body:,} bytes that are read; send less"


async def answer(send: Send, status: HTTPStatus, sentence: str) -> None:
    """A refusal as JSON."""
    body = json.dumps({"error": sentence}, ensure_ascii=False).encode()
    headers = {**HEADERS, "content-type": "application/json", "content-length": str(len(body))}
    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": int(status), "headers": pairs})
    await send({"type": "http.response.body", "body": body})


def _headers(scope: Scope) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
    return found


def _without_port(host: str) -> str:
    """localhost:8000 -> localhost; [::1]:8000 -> [::1]."""
    name, colon, port = host.rpartition(":")
    return name.lower() if colon and port.isdigit() else host.lower()
