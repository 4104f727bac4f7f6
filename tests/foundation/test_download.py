"""Downloads from a server that breaks off, lies, stalls, drips, redirects and sends other bytes: always an end."""

from __future__ import annotations

import hashlib
import logging
import resource
import socket
import threading
import time

import pytest

from clearformer.foundation.download import DownloadConfig, DownloadError, Expected, download, git_blob

CONTENT = bytes(range(256)) * 800  # 204,800 bytes: several chunks
EXPECTED = Expected(size=len(CONTENT), sha256=hashlib.sha256(CONTENT).hexdigest())
IMPATIENT = DownloadConfig(stall_seconds=0.3, attempts=3, first_pause=0.01)

pytestmark = pytest.mark.timeout(30)


def send(handler, body, *, status=200, **headers):
    handler.send_response(status)
    for name, value in {"Content_Length": len(body), **headers}.items():
        if value is not None:
            handler.send_header(name.replace("_", "-"), str(value))
    handler.end_headers()
    handler.wfile.write(body)


def honest(handler, content=CONTENT, **headers):
    """What a good server does with a range."""
    start = int((handler.headers["Range"] or "bytes=0-")[6:-1])
    if not start:
        send(handler, content, **headers)
    else:
        span = f"bytes {start}-{len(content) - 1}/{len(content)}"
        send(handler, content[start:], status=206, Content_Range=span, **headers)


def breaking_off(handler, after=50_000):
    """Says the whole length, sends a part of it, and hangs up."""
    start = int((handler.headers["Range"] or "bytes=0-")[6:-1])
    status, span = (206, f"bytes {start}-{len(CONTENT) - 1}/{len(CONTENT)}") if start else (200, None)
    send(
        handler, CONTENT[start : start + after], status=status, Content_Length=len(CONTENT) - start, Content_Range=span
    )


@pytest.fixture
def refused(serving, tmp_path):
    """A download that must end in a sentence: checks the sentence, returns what the server was asked."""

    def run(answer, sentence, *, expected=EXPECTED, config=IMPATIENT):
        with serving(answer) as (url, requests), pytest.raises(DownloadError, match=sentence):
            download(f"{url}/f", tmp_path / "f", expected=expected, config=config)
        return requests

    return run


def leftovers(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_good_server(serving, tmp_path):
    steps = []
    with serving(honest) as (url, requests):
        download(f"{url}/corpus.gz", tmp_path / "corpus.gz", expected=EXPECTED, on_bytes=steps.append)
    assert (tmp_path / "corpus.gz").read_bytes() == CONTENT
    assert leftovers(tmp_path) == ["corpus.gz"]
    assert steps == sorted(steps)
    assert steps[-1] == len(CONTENT)
    assert len(requests) == 1


def test_a_server_that_breaks_off_is_asked_for_the_rest(serving, tmp_path):
    with serving(lambda handler: breaking_off(handler, after=80_000)) as (url, requests):
        download(f"{url}/f", tmp_path / "f", expected=EXPECTED, config=IMPATIENT)
    assert (tmp_path / "f").read_bytes() == CONTENT
    assert [request["Range"] for request in requests] == [None, "bytes=80000-", "bytes=160000-"]


def test_what_has_arrived_outlives_the_process(serving, tmp_path):
    with serving(lambda handler: breaking_off(handler, after=10_000)) as (url, _):
        with pytest.raises(
            DownloadError, match=r"could not be fetched in 3 attempts.*broke off after 30,000 of 204,800"
        ):
            download(f"{url}/f", tmp_path / "f", expected=EXPECTED, config=IMPATIENT)
        assert not (tmp_path / "f").exists()
    with serving(honest) as (url, requests):
        download(f"{url}/f", tmp_path / "f", expected=EXPECTED, config=IMPATIENT)
    assert requests[0]["Range"] == "bytes=30000-"
    assert (tmp_path / "f").read_bytes() == CONTENT


def test_a_server_that_ignores_ranges_starts_again(serving, tmp_path):
    (tmp_path / "f.partial").write_bytes(CONTENT[:1000])
    with serving(lambda handler: send(handler, CONTENT)) as (url, requests):
        download(f"{url}/f", tmp_path / "f", expected=EXPECTED, config=IMPATIENT)
    assert requests[0]["Range"] == "bytes=1000-"
    assert (tmp_path / "f").read_bytes() == CONTENT


def test_a_server_that_sends_another_range_is_refused(refused, tmp_path):
    (tmp_path / "f.partial").write_bytes(CONTENT[:1000])
    wrong = f"bytes 0-{len(CONTENT) - 1001}/{len(CONTENT)}"
    refused(
        lambda handler: send(handler, CONTENT[1000:], status=206, Content_Range=wrong),
        "asked for the bytes from 1,000 on and sent others",
    )


def test_leftovers_of_another_file_are_found_out_by_the_checksum_and_replaced(serving, tmp_path):
    (tmp_path / "f.partial").write_bytes(b"x" * 1000)
    with serving(honest) as (url, requests):
        download(f"{url}/f", tmp_path / "f", expected=EXPECTED, config=IMPATIENT)
    assert [request["Range"] for request in requests] == ["bytes=1000-", None]
    assert (tmp_path / "f").read_bytes() == CONTENT


@pytest.mark.parametrize(("leftover", "asked"), [(CONTENT, 0), (b"?" * len(CONTENT), 1)])
def test_leftovers_of_the_full_size_are_checked_before_the_server_is_asked(serving, tmp_path, leftover, asked):
    (tmp_path / "f.partial").write_bytes(leftover)
    with serving(honest) as (url, requests):
        download(f"{url}/f", tmp_path / "f", expected=EXPECTED, config=IMPATIENT)
    assert len(requests) == asked
    assert (tmp_path / "f").read_bytes() == CONTENT


def test_leftovers_longer_than_the_file_are_thrown_away(serving, tmp_path):
    (tmp_path / "f.partial").write_bytes(CONTENT + b"x")
    with serving(honest) as (url, requests):
        download(f"{url}/f", tmp_path / "f", expected=EXPECTED, config=IMPATIENT)
    assert requests[0]["Range"] is None
    assert (tmp_path / "f").read_bytes() == CONTENT


def test_without_a_checksum_only_the_same_version_is_continued(serving, tmp_path, caplog):
    versions = {"old": b"a" * 100_000, "new": b"b" * 90_000}
    current = "old"

    def answer(handler):
        if handler.headers["If-Range"] == f'"{current}"':
            honest(handler, versions[current], ETag=f'"{current}"')
        elif current == "old":
            send(handler, versions["old"][:40_000], Content_Length=100_000, ETag='"old"')
        else:
            send(handler, versions["new"], ETag='"new"')

    once = DownloadConfig(stall_seconds=0.3, attempts=1)
    with serving(answer) as (url, requests):
        with pytest.raises(DownloadError, match="broke off after 40,000"):
            download(f"{url}/f", tmp_path / "f", expected=Expected(), config=once)
        current = "new"
        with caplog.at_level(logging.WARNING):
            download(f"{url}/f", tmp_path / "f", expected=Expected(), config=once)
    assert (requests[1]["Range"], requests[1]["If-Range"]) == ("bytes=40000-", '"old"')
    assert (tmp_path / "f").read_bytes() == versions["new"]  # not a splice of the two
    assert "not verified: no published checksum" in caplog.text


def test_without_a_checksum_or_a_version_nothing_is_continued(serving, tmp_path):
    (tmp_path / "f.partial").write_bytes(b"x" * 1000)
    with serving(honest) as (url, requests):
        download(f"{url}/f", tmp_path / "f", expected=Expected(), config=IMPATIENT)
    assert requests[0]["Range"] is None
    assert (tmp_path / "f").read_bytes() == CONTENT


def test_a_server_that_has_fewer_bytes_than_arrived(serving, tmp_path):
    (tmp_path / "f.partial").write_bytes(b"x" * 1000)

    def answer(handler):
        if handler.headers["Range"]:
            send(handler, b"", status=416)
        else:
            send(handler, CONTENT)

    with serving(answer) as (url, _):
        download(f"{url}/f", tmp_path / "f", expected=EXPECTED, config=IMPATIENT)
    assert (tmp_path / "f").read_bytes() == CONTENT


def test_wrong_bytes_are_never_kept(refused, tmp_path):
    requests = refused(
        lambda handler: send(handler, b"?" * len(CONTENT)),
        f"/f has SHA-256 .* where {EXPECTED.sha256} is expected",
    )
    assert leftovers(tmp_path) == []
    assert len(requests) == 1  # the server is what it is: asking again would bring the same


@pytest.mark.parametrize("announced", [10, len(CONTENT) + 1, 10**15])
def test_a_length_that_contradicts_the_catalogue_is_refused_before_the_first_byte(refused, tmp_path, announced):
    refused(
        lambda handler: send(handler, CONTENT, Content_Length=announced),
        f"offers {announced:,} bytes where 204,800 are expected",
    )
    assert leftovers(tmp_path) == []


def test_a_body_that_never_ends_is_cut_off(serving, tmp_path):
    def endless(handler):
        handler.send_response(200)
        handler.end_headers()
        while True:
            handler.wfile.write(b"x" * 10_000)

    small = DownloadConfig(stall_seconds=1, attempts=2, first_pause=0.01, max_bytes=100_000)
    with serving(endless) as (url, _):
        with pytest.raises(DownloadError, match="sent more than 100,000 bytes and was cut off"):
            download(f"{url}/f", tmp_path / "f", expected=Expected(), config=small)
        with pytest.raises(DownloadError, match="sent more than 204,800 bytes"):
            download(f"{url}/g", tmp_path / "g", expected=EXPECTED, config=IMPATIENT)
    assert leftovers(tmp_path) == []


def test_a_file_above_the_limit_is_refused_at_once(refused):
    refused(honest, "more than the 1,000 that are allowed", expected=Expected(), config=DownloadConfig(max_bytes=1000))


@pytest.mark.parametrize("sent_before", [0, 60_000])
def test_a_server_that_stalls_is_given_up(serving, tmp_path, sent_before):
    released = threading.Event()

    def stalling(handler):
        if sent_before:
            handler.send_response(200)
            handler.send_header("Content-Length", str(len(CONTENT)))
            handler.end_headers()
            handler.wfile.write(CONTENT[:sent_before])
        released.wait(20)

    with serving(stalling) as (url, requests):
        try:
            with pytest.raises(DownloadError, match=r"nothing came for 0\.3 seconds"):
                download(f"{url}/f", tmp_path / "f", expected=EXPECTED, config=IMPATIENT)
        finally:
            released.set()
    assert len(requests) == IMPATIENT.attempts


def test_a_server_that_drips_is_given_up(refused):
    def dripping(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(CONTENT)))
        handler.end_headers()
        for _ in range(200):  # a byte often enough that no single read times out
            handler.wfile.write(b"x")
            handler.wfile.flush()
            time.sleep(0.05)

    refused(dripping, r"only \d+ bytes came in 0\.3 seconds")


def test_a_busy_server_is_asked_again(serving, tmp_path):
    answers = iter([503, 429, 200])

    def busy(handler):
        status = next(answers)
        send(handler, CONTENT if status == 200 else b"later", status=status)

    with serving(busy) as (url, _):
        download(f"{url}/f", tmp_path / "f", expected=EXPECTED, config=IMPATIENT)
    assert (tmp_path / "f").read_bytes() == CONTENT


def test_a_file_that_is_gone_is_asked_for_once(refused):
    requests = refused(lambda handler: send(handler, b"", status=404), "/f replied 404 Not Found: the file has moved")
    assert len(requests) == 1


def test_redirects_are_followed_and_keep_the_range(serving, tmp_path):
    (tmp_path / "f.partial").write_bytes(CONTENT[:1000])

    def answer(handler):
        if handler.path == "/old":
            send(handler, b"", status=302, Location="/new")
        else:
            honest(handler)

    with serving(answer) as (url, requests):
        download(f"{url}/old", tmp_path / "f", expected=EXPECTED, config=IMPATIENT)
    assert [(request["path"], request["Range"]) for request in requests] == [
        ("/old", "bytes=1000-"),
        ("/new", "bytes=1000-"),
    ]
    assert (tmp_path / "f").read_bytes() == CONTENT


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://127.0.0.1/f", "/f"])
def test_redirects_to_other_worlds_and_in_circles_end(refused, tmp_path, target):
    refused(lambda handler: send(handler, b"", status=302, Location=target), r"redirects to|replied 302")
    assert leftovers(tmp_path) == []


def test_a_packed_answer_is_not_mistaken_for_the_file(refused):
    refused(lambda handler: send(handler, CONTENT, Content_Encoding="gzip"), "insists on packing")


def test_nobody_there(tmp_path):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/f"
        with pytest.raises(DownloadError, match=r"the connection failed: .*refused"):
            download(url, tmp_path / "f", expected=EXPECTED, config=IMPATIENT)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://example.org/f", "/etc/passwd"])
def test_only_http_and_https(tmp_path, url):
    with pytest.raises(DownloadError, match="not an http or https address"):
        download(url, tmp_path / "f", expected=EXPECTED)


def test_a_full_disk_is_not_blamed_on_the_network(serving, tmp_path):
    """A limit on the size of files stands in for the disk; the error says what the disk said, at the first attempt."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        with serving(honest) as (url, requests), pytest.raises(OSError, match="File too large"):
            download(f"{url}/f", tmp_path / "f", expected=EXPECTED, config=IMPATIENT)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert len(requests) == 1


def test_git_s_name_for_a_content_is_git_s(tmp_path):
    """`printf 'hello\n' | git hash-object --stdin` has printed this since 2005."""
    (tmp_path / "hello").write_bytes(b"hello\n")
    assert git_blob(tmp_path / "hello") == "ce013625030ba8dba906f756967f9e9ca394464a"


def test_git_s_name_is_a_checksum_too(serving, refused, tmp_path, caplog):
    (tmp_path / "original").write_bytes(CONTENT)
    expected = Expected(size=len(CONTENT), git_blob=git_blob(tmp_path / "original"))
    with serving(honest) as (url, _):
        download(f"{url}/f", tmp_path / "good", expected=expected)
    assert (tmp_path / "good").read_bytes() == CONTENT
    assert "not verified" not in caplog.text
    refused(lambda handler: send(handler, b"?" * len(CONTENT)), "the content that git names", expected=expected)
    assert not (tmp_path / "f").exists()


def test_a_token_is_for_the_host_that_was_asked(serving, tmp_path):
    """A redirect within the host keeps it; one to another host, as to a store of large files, does not."""
    with serving(honest) as (elsewhere, asked_elsewhere):

        def answer(handler):
            here, there = "/inside", f"{elsewhere.replace('127.0.0.1', 'localhost')}/f"
            send(handler, b"", status=302, Location=here if handler.path == "/f" else there)

        with serving(answer) as (url, asked):
            token = {"Authorization": "Bearer secret", "User-Agent": "somebody"}
            download(f"{url}/f", tmp_path / "f", expected=EXPECTED, headers=token)
    assert [request["Authorization"] for request in asked] == ["Bearer secret"] * 2
    assert [request["Authorization"] for request in asked_elsewhere] == [None]


def test_the_server_s_code_can_be_asked_for(serving, tmp_path):
    with serving(lambda handler: send(handler, b"", status=401)) as (url, _), pytest.raises(DownloadError) as refusal:
        download(f"{url}/f", tmp_path / "f", expected=EXPECTED)
    assert refusal.value.status == 401


def test_a_circle_of_redirects_is_told_in_one_line(serving, tmp_path):
    with (
        serving(lambda handler: send(handler, b"", status=302, Location="/f")) as (url, _),
        pytest.raises(DownloadError) as refusal,
    ):
        download(f"{url}/f", tmp_path / "f", expected=EXPECTED)
    assert "\n" not in str(refusal.value)
