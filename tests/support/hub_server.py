"""A server on this machine that speaks the Hugging Face hub's protocol, and behaves as badly as a test tells it to.

What it offers: the list of a repository's files with sizes, git's names and SHA-256; files by commit, the large ones
through a redirect to a store; ranges. `hub.instead[path]` replaces one answer.
"""

import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

COMMIT = "0123456789abcdef0123456789abcdef01234567"
LARGE = (".safetensors", ".bin", ".gguf", ".spm", ".model")  # what the hub keeps in its store of large files
Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Repo:
    files: dict[str, bytes]
    commit: str = COMMIT
    tags: list[str] = field(default_factory=lambda: ["license:mit"])

    def listing(self, name: str) -> dict:
        return {
            "id": name,
            "sha": self.commit,
            "tags": self.tags,
            "private": False,
            "downloads": 0,
            "likes": 0,
            "siblings": [self.sibling(file) for file in self.files],
        }

    def sibling(self, file: str) -> dict:
        content = self.files[file]
        blob = hashlib.sha1(f"blob {len(content)}\0".encode() + content).hexdigest()
        told = {"rfilename": file, "size": len(content), "blobId": blob}
        if file.endswith(LARGE):
            sha256 = hashlib.sha256(content).hexdigest()
            told["lfs"] = {"sha256": sha256, "size": len(content), "pointerSize": 134}
        return told


class HubServer:
    """The server. asked: the path of every request; sent: bytes of files, by name, that left it."""

    def __init__(self) -> None:
        self.repos: dict[str, Repo] = {}
        self.instead: dict[str, Answer] = {}
        self.asked: list[str] = []
        self.tokens: dict[str, str | None] = {}
        self.sent: dict[str, int] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self.store = f"http://localhost:{self._server.server_port}"  # another host, as for the real one
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def put(self, name: str, folder: Path | dict[str, bytes], **facts) -> Repo:
        """Publish a folder's files."""
        files = folder if isinstance(folder, dict) else {file.name: file.read_bytes() for file in folder.iterdir()}
        self.repos[name] = Repo(dict(sorted(files.items())), **facts)
        return self.repos[name]

    def files_asked_for(self) -> list[str]:
        return [path.rpartition("/")[2] for path in self.asked if "/resolve/" in path]

    def _handler(hub) -> type[BaseHTTPRequestHandler]:  # noqa: N805 - `self` is the request
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = unquote(urlsplit(self.path).path)
                hub.asked.append(path)
                hub.tokens[path] = self.headers["Authorization"]
                self.close_connection = True
                with suppress(BrokenPipeError, ConnectionResetError):  # the client has heard enough
                    hub.instead.get(path, hub.answer)(self)

            do_HEAD = do_GET  # noqa: N815

            def log_message(self, *_) -> None:
                pass

        return Handler

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        path = unquote(urlsplit(request.path).path)
        if found := re.fullmatch(r"/api/models/([^/]+/[^/]+)(?:/revision/(.+))?", path):
            self._list(request, *found.groups())
        elif found := re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
            self._resolve(request, *found.groups())
        elif found := re.fullmatch(r"/store/([^/]+/[^/]+)/(.+)", path):
            self.send_file(request, *found.groups())
        else:
            send(request, 404)

    def _list(self, request: BaseHTTPRequestHandler, name: str, revision: str | None) -> None:
        repo = self.repos.get(name)
        if repo is None:
            send(request, 401, X_Error_Code="RepoNotFound")
        elif revision not in (None, "main", "v1", repo.commit):
            send(request, 404, X_Error_Code="RevisionNotFound")
        else:
            send_json(request, repo.listing(name))

    def _resolve(self, request: BaseHTTPRequestHandler, name: str, revision: str, file: str) -> None:
        repo = self.repos[name]
        if revision not in (repo.commit, "main") or file not in repo.files:
            send(request, 404, X_Error_Code="EntryNotFound", X_Repo_Commit=repo.commit)
            return
        told = repo.sibling(file)
        if "lfs" not in told:
            self.send_file(request, name, file, ETag=f'"{told["blobId"]}"', X_Repo_Commit=repo.commit)
            return
        linked = {"X_Linked_Size": told["size"], "X_Linked_Etag": f'"{told["lfs"]["sha256"]}"'}
        send(request, 302, Location=f"{self.store}/store/{name}/{file}", X_Repo_Commit=repo.commit, **linked)

    def send_file(self, request: BaseHTTPRequestHandler, name: str, file: str, *, upto: int | None = None, **headers):
        """A file, or the rest of it; with `upto` the line is cut after so many bytes."""
        content = self.repos[name].files[file]
        start = int((request.headers["Range"] or "bytes=0-")[6:-1])
        if start:
            headers["Content_Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
        body = b"" if request.command == "HEAD" else content[start : None if upto is None else start + upto]
        send(request, 206 if start else 200, body, Content_Length=len(content) - start, **headers)
        self.sent[file] = self.sent.get(file, 0) + len(body)


def send(request: BaseHTTPRequestHandler, status: int, body: bytes = b"", **headers: object) -> None:
    request.send_response(status)
    for name, value in {"Content_Length": len(body), **headers}.items():
        if value is not None:
            request.send_header(name.replace("_", "-"), str(value))
    request.end_headers()
    request.wfile.write(body)


def send_json(request: BaseHTTPRequestHandler, value: object) -> None:
    send(request, 200, json.dumps(value).encode(), Content_Type="application/json")


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[HubServer]:
    """A hub that HF_ENDPOINT names, with an empty cache of our own."""
    server = HubServer()
    monkeypatch.setenv("HF_ENDPOINT", server.url + "/")
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    monkeypatch.setenv("no_proxy", "*")  # the server is on this machine, whatever proxy the environment names
    monkeypatch.setenv("CLEARFORMER_CACHE", str(tmp_path / "cache"))
    yield server
    server.close()
