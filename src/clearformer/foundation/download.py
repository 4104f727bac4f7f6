"""One address, one file: fetched in pieces, resumed after a break, checked, and only then given its name.

The network is not trusted: a server may break off, stall, drip, lie about lengths, ignore ranges, redirect elsewhere or
send other bytes. Each of these ends in the right file or in one sentence, after a bounded time and a bounded size.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import logging
import os
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from clearformer.foundation import storage

log = logging.getLogger(__name__)

CHUNK = 1 << 16
SLOWEST_BYTES = 1024  # fewer than this in `stall_seconds` counts as a stall: a drip would otherwise never end
RANGE_NOT_SATISFIABLE = 416
RETRY_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})

OnBytes = Callable[[int], None]  # called with the bytes of this file that are on disk


class DownloadError(Exception):
    """A file could not be had; the message is one sentence that says why and what to do.

    status: the server's code, where that is the reason.
    """

    def __init__(self, sentence: str, *, status: int | None = None) -> None:
        super().__init__(sentence)
        self.status = status


class _Again(Exception):  # noqa: N818 - not an error to anybody outside: the attempt may be repeated
    """The attempt failed in a way that another one may not."""


@dataclass(frozen=True, kw_only=True)
class DownloadConfig:
    """How long and how much before giving up."""

    stall_seconds: float = 30.0
    attempts: int = 6
    first_pause: float = 1.0  # seconds before the second attempt; doubles each time
    max_bytes: int = 16 << 30


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What is known of a file before it arrives.

    git_blob: the name that git gives to its content, for files whose SHA-256 nobody published.
    checked_later: whoever asked compares what it makes of the file, so that a missing checksum needs no warning.
    """

    size: int | None = None
    sha256: str | None = None
    git_blob: str | None = None
    checked_later: bool = False

    @property
    def has_checksum(self) -> bool:
        """Whether other bytes would be noticed."""
        return (self.sha256 or self.git_blob) is not None

    def problem_with(self, path: Path) -> str | None:
        """What the checksum says against a file, or None."""
        if self.sha256 is not None and (found := storage.sha256(path)) != self.sha256:
            return f"has SHA-256 {found} where {self.sha256} is expected"
        if self.git_blob is not None and (found := git_blob(path)) != self.git_blob:
            return f"has the content that git names {found} where {self.git_blob} is expected"
        return None


def git_blob(path: Path) -> str:
    """The name that git gives to a file's content: the SHA-1 of its size and its bytes."""
    digest = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def download(
    url: str,
    destination: Path,
    *,
    expected: Expected,
    config: DownloadConfig | None = None,
    on_bytes: OnBytes = lambda _: None,
    headers: Mapping[str, str] | None = None,
) -> None:
    """Bring `url` to `destination`; what has arrived waits in `<destination>.partial`, and the next attempt resumes it.

    headers: what else to tell the server. A token among them is for this host only: a redirect elsewhere goes without.
    """
    config = config or DownloadConfig()
    if urlsplit(url).scheme not in ("http", "https"):
        raise DownloadError(f"{url} is not an http or https address: correct it.")
    destination.parent.mkdir(parents=True, exist_ok=True)
    partial = _Partial(destination, url, headers or {})
    for attempt in range(config.attempts):
        try:
            _fetch_rest(partial, expected, config, on_bytes)
            partial.check(expected)
            break
        except _Again as problem:
            if attempt + 1 == config.attempts:
                raise DownloadError(
                    f"{url} could not be fetched in {config.attempts} attempts (the last: {problem}): "
                    f"check the connection and run the command again, it goes on where it stopped."
                ) from problem
            pause = config.first_pause * 2**attempt
            log.info("%s: %s; trying again in %g seconds", url, problem, pause)
            time.sleep(pause)
    partial.finish(destination)
    if not expected.has_checksum and not expected.checked_later:
        log.warning("%s not verified: no published checksum", destination)


class _Partial:
    """The bytes that have arrived so far, with a note of where they came from."""

    def __init__(self, destination: Path, url: str, headers: Mapping[str, str]) -> None:
        self.url, self.headers = url, headers
        self.path = destination.with_name(destination.name + ".partial")
        self.note = destination.with_name(destination.name + ".partial.json")
        self.resumed = False

    def size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def validator(self) -> str | None:
        """The server's mark for the version whose bytes these are, if it gave one."""
        try:
            note = json.loads(self.note.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return note.get("validator") if note.get("url") == self.url else None

    def can_resume(self, expected: Expected) -> bool:
        """Whether a splice of two versions of the file would be noticed."""
        return self.size() > 0 and (expected.has_checksum or self.validator() is not None)

    def remember(self, validator: str | None) -> None:
        self.note.write_text(json.dumps({"url": self.url, "validator": validator}), encoding="utf-8")

    def discard(self) -> None:
        self.path.unlink(missing_ok=True)
        self.note.unlink(missing_ok=True)

    def check(self, expected: Expected) -> None:
        """Compare with the published checksum; a file put together from two connections gets a second chance."""
        if (problem := expected.problem_with(self.path)) is None:
            return
        self.discard()
        message = f"{self.url} {problem}"
        if self.resumed:
            raise _Again(f"{message}, after resuming")
        raise DownloadError(
            f"{message}: the file has changed or was altered on the way, so nothing of it was kept; "
            f"try another network or report the address."
        )

    def finish(self, destination: Path) -> None:
        """Give the file its name, in one step and only when its bytes are on disk."""
        with self.path.open("rb+") as file:
            os.fsync(file.fileno())
        self.path.replace(destination)
        self.note.unlink(missing_ok=True)


def _fetch_rest(partial: _Partial, expected: Expected, config: DownloadConfig, on_bytes: OnBytes) -> None:
    """One attempt: ask for what is missing and add it to the partial file."""
    if not partial.can_resume(expected) or (expected.size is not None and partial.size() > expected.size):
        partial.discard()
    have = partial.size()
    if have and have == expected.size:
        partial.resumed = True  # whole already, from an earlier run; if it proves wrong, the server gets its chance
        return
    with _open(partial, have, config) as response:
        start = _first_byte(response, have)
        total = _announced_total(response, start, partial.url, expected, config)
        partial.resumed = start > 0
        partial.remember(_validator_of(response))
        limit = config.max_bytes if total is None else total
        with partial.path.open("ab" if start else "wb") as file:
            have = _copy(response, file, start, limit, config, on_bytes)
    if have > limit:
        partial.discard()
        raise DownloadError(
            f"{partial.url} sent more than {limit:,} bytes and was cut off: it is not the file that was expected."
        )
    if total is not None and have < total:
        raise _Again(f"it broke off after {have:,} of {total:,} bytes")


def _open(partial: _Partial, have: int, config: DownloadConfig) -> http.client.HTTPResponse:
    """Ask for the bytes from `have` on."""
    headers = {"User-Agent": "clearformer", **partial.headers}
    headers["Accept-Encoding"] = "identity"  # the bytes themselves, not a packed form
    if have:
        headers["Range"] = f"bytes={have}-"
        if (validator := partial.validator()) is not None:
            headers["If-Range"] = validator  # if it is another version by now, the server sends the whole file
    request = urllib.request.Request(partial.url, headers=headers)
    opener = urllib.request.build_opener(_CarefulRedirects)
    try:
        response: http.client.HTTPResponse = opener.open(request, timeout=config.stall_seconds)
    except urllib.error.HTTPError as problem:
        problem.close()
        if problem.code == RANGE_NOT_SATISFIABLE:
            partial.discard()
            raise _Again("the server has fewer bytes than have already arrived") from None
        if problem.code in RETRY_STATUS:
            raise _Again(f"the server replied {problem.code}") from None
        raise DownloadError(
            f"{partial.url} replied {problem.code} {_first_line(problem.reason)}: the file has moved or is not public; "
            f"fetch it by hand or report the address.",
            status=problem.code,
        ) from None
    except (http.client.HTTPException, OSError) as problem:
        raise _Again(_in_words(problem, config)) from problem
    if response.headers.get("Content-Encoding", "identity") != "identity":
        response.close()
        raise DownloadError(f"{partial.url} insists on packing the file on the way: fetch it by hand.")
    return response


def _first_byte(response: http.client.HTTPResponse, have: int) -> int:
    """Where the reply begins: at `have` if the server resumed, at 0 if it ignored the range."""
    if response.status != http.HTTPStatus.PARTIAL_CONTENT:
        return 0
    match = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    if match is None or int(match[1]) != have:
        raise DownloadError(
            f"{response.url} was asked for the bytes from {have:,} on and sent others "
            f"({response.headers.get('Content-Range')}): delete the .partial file to begin again."
        )
    return have


def _announced_total(
    response: http.client.HTTPResponse, start: int, url: str, expected: Expected, config: DownloadConfig
) -> int | None:
    """The size of the whole file, refused before the first byte if it cannot be right."""
    length = response.headers.get("Content-Length", "")
    announced = start + int(length) if length.isdecimal() else None
    if announced is not None and expected.size is not None and announced != expected.size:
        raise DownloadError(
            f"{url} offers {announced:,} bytes where {expected.size:,} are expected: "
            f"the file has changed; report the address."
        )
    total = announced if expected.size is None else expected.size
    if total is not None and total > config.max_bytes:
        raise DownloadError(
            f"{url} has {total:,} bytes, more than the {config.max_bytes:,} that are allowed: raise max_bytes."
        )
    return total


def _copy(
    response: http.client.HTTPResponse,
    file: IO[bytes],
    have: int,
    limit: int,
    config: DownloadConfig,
    on_bytes: OnBytes,
) -> int:
    """Write what arrives, until it ends or passes the limit; returns the size of the file now."""
    window_began, window_had = time.monotonic(), have
    while have <= limit:
        try:
            # read1 returns what is there; read would wait for a whole chunk and hide a drip from the check below.
            chunk = response.read1(CHUNK)
        except (http.client.HTTPException, OSError) as problem:
            raise _Again(_in_words(problem, config)) from problem
        if not chunk:
            break
        file.write(chunk)
        have += len(chunk)
        on_bytes(have)
        if time.monotonic() - window_began > config.stall_seconds:
            if have - window_had < SLOWEST_BYTES:
                raise _Again(f"only {have - window_had} bytes came in {config.stall_seconds:g} seconds")
            window_began, window_had = time.monotonic(), have
    return have


def _validator_of(response: http.client.HTTPResponse) -> str | None:
    """The server's mark of this version that `If-Range` accepts: a strong ETag, else the date."""
    etag: str | None = response.headers.get("ETag")
    return etag if etag and not etag.startswith("W/") else response.headers.get("Last-Modified")


def _first_line(reason: object) -> str:
    return str(reason).partition("\n")[0]  # Python puts what it knows of a redirect that never ends on a second line


def _in_words(problem: Exception, config: DownloadConfig) -> str:
    reason = problem.reason if isinstance(problem, urllib.error.URLError) else problem
    if isinstance(reason, TimeoutError):
        return f"nothing came for {config.stall_seconds:g} seconds"
    return f"the connection failed: {reason or type(problem).__name__}"


class _CarefulRedirects(urllib.request.HTTPRedirectHandler):
    """Follow redirects within http and https, and never from the encrypted to the open one."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        old, new = urlsplit(req.full_url).scheme, urlsplit(newurl).scheme
        if new not in ("http", "https") or (old == "https" and new == "http"):
            raise DownloadError(f"{req.full_url} redirects to {newurl}, which is not safe to follow: fetch it by hand.")
        following = super().redirect_request(req, fp, code, msg, headers, newurl)
        if following is not None and urlsplit(req.full_url).netloc != urlsplit(newurl).netloc:
            following.remove_header("Authorization")  # it was meant for the host that was asked
        return following
