"""Who may ask, and how much: the guard before every request, without a network."""

import asyncio

import pytest

from clearformer.serving.guard import HEADERS, Guard, Limits


async def echo(scope, receive, send):
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": body})


async def breaks(scope, receive, send):
    raise RuntimeError("/secret/path is broken")


def call(app, headers, body=b"", chunks=None, **options):
    """One request through the guard: status, headers, body."""
    parts = [body] if chunks is None else chunks
    messages = [{"type": "http.request", "body": p, "more_body": i < len(parts) - 1} for i, p in enumerate(parts)]
    sent = []

    async def receive():
        return messages.pop(0)

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/", "headers": [(k.encode(), v.encode()) for k, v in headers]}
    asyncio.run(Guard(app, **options)(scope, receive, send))
    head = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], head, b"".join(message.get("body", b"") for message in sent[1:])


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8700", "localhost:1", "LOCALHOST", "[::1]:8700"])
def test_this_computer_is_answered(host):
    assert call(echo, [("host", host)], b"hello")[0::2] == (200, b"hello")


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8700", "127.0.0.1.evil.example", "localhost@evil", "", "0.0.0.0", "127.0.0.2"],
)
def test_other_names_are_not(host):
    """DNS rebinding sends a browser here under a name of the attacker's."""
    assert call(echo, [("host", host)])[0] == 421


def test_a_request_without_a_host_or_with_two_is_refused():
    assert call(echo, [])[0] == 421
    assert call(echo, [("host", "localhost"), ("host", "evil.example")])[0] == 421


def test_another_site_s_page_may_not_ask():
    assert call(echo, [("host", "localhost:8700"), ("origin", "http://evil.example")])[0] == 403
    assert call(echo, [("host", "localhost:8700"), ("origin", "null")])[0] == 403
    assert call(echo, [("host", "localhost:8700"), ("origin", "http://localhost:8700")])[0] == 200


@pytest.mark.parametrize("length", ["11", "-1", "9" * 40, "1e3", "", "٣"])
def test_a_length_that_is_too_large_or_no_number_is_refused_unread(length):
    assert call(breaks, [("host", "localhost"), ("content-length", length)], limits=Limits(body_bytes=10))[0] == 413


def test_a_body_without_announced_length_is_counted_while_it_is_read():
    assert call(echo, [("host", "localhost")], chunks=[b"12345", b"12345"], limits=Limits(body_bytes=10))[0] == 200
    assert call(echo, [("host", "localhost")], chunks=[b"12345", b"123456"], limits=Limits(body_bytes=10))[0] == 413


def test_every_answer_carries_the_policy():
    for headers in ([("host", "localhost")], [("host", "evil.example")]):
        found = call(echo, headers)[1]
        assert HEADERS.items() <= found.items()
        assert found["content-security-policy"].startswith("default-src 'self'")


def test_a_failure_says_nothing_of_the_inside():
    status, _, body = call(breaks, [("host", "localhost")])
    assert status == 500
    assert b"secret" not in body


def test_web_sockets_are_not_answered():
    sent = []

    async def send(message):
        sent.append(message)

    asyncio.run(Guard(breaks)({"type": "websocket", "headers": []}, None, send))
    assert sent == []


def test_only_addresses_for_files_take_large_bodies():
    limits = Limits(body_bytes=10, file_bytes=100, file_paths=frozenset({"/"}))
    host = [("host", "localhost")]
    assert call(echo, host, b"x" * 100, limits=limits)[0::2] == (200, b"x" * 100)
    assert call(echo, [*host, ("content-length", "101")], b"x" * 101, limits=limits)[0] == 413
    assert call(echo, host, chunks=[b"x" * 60, b"x" * 60], limits=limits)[0] == 413
    assert call(echo, host, b"x" * 11, limits=Limits(body_bytes=10, file_paths=frozenset({"/other"})))[0] == 413
