"""Raw sockets against a server that really runs: an unfinished request is not waited for, and leaves no traceback."""

import json
import socket
import subprocess
import sys

import pytest

pytestmark = pytest.mark.timeout(120)

SERVER = """
import sys
from pydantic import BaseModel
from clearformer.serving.app import new_app
from clearformer.serving.guard import Limits
from clearformer.serving.server import open_port, serve

class Question(BaseModel):
    text: str

app = new_app()
asked = []

@app.post("/length")
def length(question: Question) -> dict[str, int]:
    asked.append(question.text)
    return {"length": len(question.text)}

@app.get("/asked")
def count() -> dict[str, int]:
    return {"asked": len(asked)}

listener = open_port()
limits = Limits(header_seconds=1.0, idle_seconds=1.0, body_seconds=3.0, body_bytes=100_000)
serve(app, listener, limits=limits, on_ready=lambda: print(listener.getsockname()[1], flush=True))
"""


class Server:
    """A server in a process of its own; what it writes to stderr is read at the end."""

    def __init__(self, folder):
        self._log = folder / "log.txt"
        with self._log.open("wb") as log:
            self.process = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, stderr=log)
        self.port = int(self.process.stdout.readline())

    def connect(self, begin: bytes) -> socket.socket:
        """A connection on which something has been sent already. recv fails if the server never lets go."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        connection.sendall(begin)
        return connection

    def head(self, *, host=None, path="/length", **more) -> bytes:
        lines = {"Host": host or f"127.0.0.1:{self.port}", "Content-Type": "application/json", **more}
        return "\r\n".join([f"POST {path} HTTP/1.1", *(f"{k}: {v}" for k, v in lines.items()), "", ""]).encode()

    def ask(self, text: str) -> tuple[int, dict]:
        """An ordinary question, to see that the server still answers."""
        body = json.dumps({"text": text}).encode()
        more = {"Content-Length": len(body), "Connection": "close"}
        return told(self.connect(self.head(**more) + body))

    def stop(self) -> str:
        self.process.terminate()
        self.process.wait(30)
        return self._log.read_text()


def told(connection: socket.socket) -> tuple[int, dict]:
    """Everything that the server sends until it closes the connection: status and JSON."""
    received = b""
    while part := connection.recv(65536):
        received += part
    connection.close()
    head, _, body = received.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


@pytest.fixture
def server(tmp_path):
    running = Server(tmp_path)
    yield running
    log = running.stop()
    assert "Traceback" not in log, log
    assert "Exception" not in log, log


def test_an_unfinished_body_is_waited_for_only_so_long(server):
    held = [server.connect(server.head(**{"Content-Length": 1000}) + b'{"text": ') for _ in range(50)]
    assert server.ask("while they wait") == (200, {"length": 15})
    for connection in held:
        status, answer = told(connection)
        assert status == 408
        assert "did not arrive" in answer["error"]


def test_a_body_that_trickles_in_has_an_end_too(server):
    connection = server.connect(server.head(**{"Content-Length": 1000}))
    connection.settimeout(0.2)
    received = b""
    for _ in range(100):  # each byte comes in time, all of them together do not
        try:
            connection.sendall(b"x")
            received = connection.recv(65536)
        except TimeoutError:
            continue
        break
    assert received.startswith(b"HTTP/1.1 408")


def test_headers_that_never_end_are_given_up(server):
    for begun in (b"", b"POST /length HT", server.head()[:-2]):
        connection = server.connect(begun)
        assert connection.recv(100) == b""


def test_a_second_request_on_a_connection_has_the_same_time(server):
    body = b'{"text": "one"}'
    connection = server.connect(server.head(**{"Content-Length": len(body)}) + body)
    assert connection.recv(65536).startswith(b"HTTP/1.1 200")
    connection.sendall(b"POST /length HT")
    while connection.recv(65536):
        pass


CHUNKED = {"Transfer-Encoding": "chunked"}
BROKEN = {
    "a refused host, then a chunk that is none": (400, "evil.example", CHUNKED, b"zz\r\n"),
    "a chunk that is none": (400, None, CHUNKED, b"zz\r\n"),
    "a chunk, then one that is none": (400, None, CHUNKED, b"2\r\n{}\r\nzz\r\n"),
    "more than was announced": (422, None, {"Content-Length": 2}, b"{}" + b"x" * 5000),
    "a refused host, and a body": (421, "evil.example", {"Content-Length": 20}, b"x" * 20),
    "a refused host that waits for leave": (421, "evil.example", {"Content-Length": 20, "Expect": "100-continue"}, b""),
    "too large by its own word": (413, None, {"Content-Length": 10**7}, b"x" * 200_000),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_request_is_refused_without_a_word_in_the_log(server, name):
    status, host, more, body = BROKEN[name]
    connection = server.connect(server.head(host=host, **more))
    connection.sendall(body)
    assert connection.recv(65536).split()[1] in (str(status).encode(), b"100")
    connection.close()
    assert server.ask("still here") == (200, {"length": 10})


def test_a_body_without_announced_length_that_grows_too_large_is_refused(server):
    connection = server.connect(server.head(**CHUNKED))
    connection.sendall(b"".join(b"4000\r\n" + b"a" * 0x4000 + b"\r\n" for _ in range(10)) + b"0\r\n\r\n")
    status, answer = told(connection)
    assert status == 413
    assert "100,000 bytes" in answer["error"]


def test_whoever_goes_away_in_the_middle_leaves_no_trace(server):
    for _ in range(20):
        server.connect(server.head(**{"Content-Length": 1000}) + b'{"text": "').close()
    assert server.ask("still here") == (200, {"length": 10})
    connection = server.connect(
        f"GET /asked HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nConnection: close\r\n\r\n".encode()
    )
    assert told(connection) == (200, {"asked": 1})
