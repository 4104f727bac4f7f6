"""Errors are sentences, and nothing that was sent comes back."""

import pytest
from fastapi.testclient import TestClient
from pydantic import BaseModel

from clearformer.serving.admission import BusyError
from clearformer.serving.app import new_app
from clearformer.serving.refusal import Refused


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
