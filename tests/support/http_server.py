"""A real HTTP server on this machine that behaves as badly as a test tells it to."""

from __future__ import annotations

import contextlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


@contextlib.contextmanager
def _serving(answer):
    requests = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            noted = ("Range", "If-Range", "Authorization")
            requests.append({"path": self.path, **{name: self.headers[name] for name in noted}})
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the client has heard enough
                answer(self)
            self.close_connection = True

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", requests
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def serving(monkeypatch):
    """`with serving(answer) as (url, requests)`: every GET is answered by `answer(handler)` and noted in `requests`."""
    monkeypatch.setenv("no_proxy", "*")  # the server is on this machine, whatever proxy the environment names
    return _serving
