"""Errors are sentences, and nothing that was sent comes back."""

import socket
import threading
import time
from collections.abc import Callable
from typing import Annotated

import httpx
import pytest
from fastapi import Depends
from fastapi.testclient import TestClient
from pydantic import BaseModel

from clearformer.serving.admission import BusyError, Turns
from clearformer.serving.app import asker_left, new_app
from clearformer.serving.assets import Assets
from clearformer.serving.refusal import Refused
from clearformer.serving.server import address_of, open_port, serve


class Wanted(BaseModel):
    count: int


@pytest.fixture
def client():
    app = new_app()

    @app.post("/count")
    def count(wanted: Wanted) -> int:
        return wanted.count

    @app.get("/fail/{kind}")
    def fail(kind: str) -> None:
        raise {
            "value": ValueError("too long; shorten it"),
            "key": KeyError("no such thing"),
            "busy": BusyError("busy"),
            "refused": Refused("long", "{count} is too long", count=7),
        }[kind]

    return TestClient(app)


def test_a_wrong_field_is_named_and_not_repeated(client):
    answer = client.post("/count", json={"count": "<script>" * 1000})
    assert answer.status_code == 422
    assert answer.json()["error"].startswith("count:")
    assert "script" not in answer.text


@pytest.mark.parametrize("body", [b"", b"{", b"[" * 100_000, b"\xff\xfe", b'{"count": NaN}', b'{"count": 1e999}'])
def test_broken_bodies_are_refused(client, body):
    answer = client.post("/count", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422)
    assert answer.json()["error"]


def test_our_own_errors_are_sentences(client):
    assert client.get("/fail/value").json() == {"error": "too long; shorten it"}
    assert client.get("/fail/key").json() == {"error": "no such thing"}
    assert client.get("/fail/busy").status_code == 503
    told = client.get("/fail/refused").json()
    assert told == {"error": "7 is too long", "code": "long", "values": {"count": 7}}


def test_unknown_addresses_and_methods(client):
    assert client.get("/nothing").json() == {"error": "there is nothing at this address"}
    assert client.get("/count").status_code == 405


def test_there_are_no_pages_that_load_scripts_from_elsewhere(client):
    assert [client.get(path).status_code for path in ("/docs", "/redoc", "/openapi.json")] == [404, 404, 404]


def wait_for(condition, event):
    while not (condition() or event.is_set()):
        time.sleep(0.01)
    event.set()


def test_nothing_is_computed_for_an_asker_who_has_left(tmp_path):
    """A real server: one question is being answered, the next waits, and its asker closes the connection."""
    app, turns, computed = new_app(Assets(tmp_path)), Turns(), []
    begun, go_on, noticed = threading.Event(), threading.Event(), threading.Event()

    @app.post("/slow")
    def slow() -> None:
        with turns.mine():
            begun.set()
            go_on.wait(30)

    @app.post("/ask")
    def ask(wanted: Wanted, left: Annotated[Callable[[], bool], Depends(asker_left)]) -> None:
        threading.Thread(target=wait_for, args=(left, noticed), daemon=True).start()
        with turns.mine(left):
            computed.append(wanted.count)

    listener, ready = open_port(), threading.Event()
    threading.Thread(target=serve, args=(app, listener), kwargs={"on_ready": ready.set}, daemon=True).start()
    assert ready.wait(60)
    address = address_of(listener)
    first = threading.Thread(target=httpx.post, args=(f"{address}/slow",), kwargs={"timeout": 60})
    first.start()
    assert begun.wait(60)
    head = "POST /ask HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n"
    before = turns._places._value
    with socket.create_connection(listener.getsockname()) as impatient:
        impatient.sendall(head.encode() + b'{"count": 1}')
        while turns._places._value == before:  # until the question waits
            time.sleep(0.01)
    assert noticed.wait(60)
    go_on.set()
    first.join()
    assert httpx.post(f"{address}/ask", json={"count": 2}, timeout=60).status_code == 200
    assert computed == [2]
    listener.close()
