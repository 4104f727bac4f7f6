"""The check before every request: who may ask, how much they may send and how slowly; and the headers of every answer.

A page on the internet can make a browser send requests to 127.0.0.1, and with a name that resolves there (DNS
rebinding) even read the answers. The Host header gives such a request away, so only hosts that we know are answered.
"""

import asyncio
import json
import logging
from collections.abc import Collection
from dataclasses import dataclass
from http import HTTPStatus

from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger(__name__)

Refusal = tuple[HTTPStatus, str]
DRAINED = 16_000_000  # bytes of a body that are read at all, wanted or not
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


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How much a request may send, and how long it may take to send it."""

    body_bytes: int = 1_000_000
    file_bytes: int = 12_000_000  # of a picture or a recording, at the addresses that take one
    file_paths: frozenset[str] = frozenset()
    header_seconds: float = 10.0  # for all headers
    idle_seconds: float = 10.0  # between two parts of the body
    body_seconds: float = 60.0  # for the whole body

    def room(self, path: str) -> int:
        """How many bytes a request for this path may send."""
        return self.file_bytes if path in self.file_paths else self.body_bytes


class Guard:
    """Wraps an application: refuses unknown hosts and origins, large and slow bodies; never answers with a traceback.

    A body is read as a whole before the application is called, so that no request which breaks off or grows too large
    comes as far as that.
    """

    def __init__(self, app: ASGIApp, *, hosts: Collection[str] = LOOPBACK, limits: Limits | None = None) -> None:
        self._app, self._hosts, self._limits = app, frozenset(hosts), limits or Limits()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # no web sockets here
            return
        room = self._limits.room(scope["path"])
        refusal = self._refusal(_headers(scope), room)
        try:
            body = await self._read(receive, room)
        except _Gone:
            return
        except _Refuse as error:
            refusal = refusal or error.refusal
        if refusal is not None:
            await answer(send, *refusal)
            return
        await self._pass_on(scope, _replay(body, receive), send)

    def _refusal(self, headers: dict[str, list[str]], room: int) -> Refusal | None:
        hosts = headers.get("host", [])
        if len(hosts) != 1 or _without_port(hosts[0]) not in self._hosts:
            return HTTPStatus.MISDIRECTED_REQUEST, "this server answers to its own address only; open the printed link"
        origin = headers.get("origin", [""])[0]
        if origin and origin.partition("://")[2] != hosts[0]:
            return HTTPStatus.FORBIDDEN, "another site's page may not ask this server"
        length = headers.get("content-length", ["0"])[0]
        if not (length.isascii() and length.isdigit()) or int(length[:12]) > room:
            return _too_large(room)
        return None

    async def _read(self, receive: Receive, room: int) -> bytes:
        """The whole body. One that is too large is read to its end, within bounds, and dropped: a browser that is still
        sending when the connection closes shows no answer at all."""
        body, size = bytearray(), 0
        ends = asyncio.get_running_loop().time() + self._limits.body_seconds
        while size <= DRAINED:
            left = ends - asyncio.get_running_loop().time()
            try:
                message = await asyncio.wait_for(receive(), max(0.0, min(self._limits.idle_seconds, left)))
            except TimeoutError:
                raise _Refuse(HTTPStatus.REQUEST_TIMEOUT, "the rest of the request did not arrive in time") from None
            if message["type"] != "http.request":
                raise _Gone
            part = message.get("body", b"")
            size += len(part)
            if size <= room:
                body += part
            if not message.get("more_body"):
                break
        if size > room:
            raise _Refuse(*_too_large(room))
        return bytes(body)

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def dress(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                own = {name.lower() for name, _ in message.get("headers", [])}
                extra = [(name.encode(), value.encode()) for name, value in HEADERS.items() if name.encode() not in own]
                message = {**message, "headers": [*message.get("headers", []), *extra]}
            await send(message)

        try:
            await self._app(scope, receive, dress)
        except Exception:
            log.exception("%s %s failed", scope["method"], scope["path"])
            if not started:
                await answer(
                    send, HTTPStatus.INTERNAL_SERVER_ERROR, "something went wrong here; the server's log says what"
                )


def _too_large(room: int) -> Refusal:
    return (
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        f"the request is larger than the {room:,} bytes that are read; send less",
    )


class _Gone(Exception):  # noqa: N818 - nobody is left to answer
    """The client left in the middle of the request."""


class _Refuse(Exception):  # noqa: N818 - it is an answer
    """The body is refused."""

    def __init__(self, status: HTTPStatus, told: str) -> None:
        super().__init__(told)
        self.refusal: Refusal = status, told


def _replay(body: bytes, receive: Receive) -> Receive:
    """A body that has been read, then whatever follows: that the client has left."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


async def answer(send: Send, status: HTTPStatus, sentence: str) -> None:
    """A refusal as JSON. It closes the connection: nothing more is read from it."""
    body = json.dumps({"error": sentence}, ensure_ascii=False).encode()
    headers = {**HEADERS, "content-type": "application/json", "connection": "close"}
    headers["content-length"] = str(len(body))
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
