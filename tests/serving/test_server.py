"""A real port on this computer."""

import http.client
import socket
import threading

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from clearformer.serving.server import address_of, open_port, serve


def test_a_port_in_use_means_the_next_one():
    with open_port(port=0) as taken:
        port = taken.getsockname()[1]
        if port > 65_000:
            pytest.skip(f"the system gave port {port}, too near the end of the range")
        with open_port(port=port) as other:
            assert port < other.getsockname()[1] < port + 20


def test_no_free_port_is_a_sentence():
    with open_port(port=0) as taken, pytest.raises(ValueError, match="give another --port"):
        open_port(port=taken.getsockname()[1], tries=1)


def test_the_address_can_be_typed_into_a_browser():
    with open_port() as listener:
        assert address_of(listener) == f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_it_answers_on_loopback_with_the_guard_around_it():
    app = Starlette(routes=[Route("/", lambda request: PlainTextResponse("here"))])
    listener = open_port()
    port, ready = listener.getsockname()[1], threading.Event()
    threading.Thread(target=serve, args=(app, listener), kwargs={"on_ready": ready.set}, daemon=True).start()
    assert ready.wait(30)
    assert ask(port, f"127.0.0.1:{port}") == (200, b"here")
    assert ask(port, "evil.example")[0] == 421
    with socket.create_connection(("127.0.0.1", port)) as raw:
        raw.sendall(b"\x16\x03\x01 not http at all\r\n\r\n")
        assert b"400" in raw.recv(100)
    assert ask(port, f"127.0.0.1:{port}") == (200, b"here")


def ask(port, host):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", "/", headers={"host": host})
    answer = connection.getresponse()
    return answer.status, answer.read()
