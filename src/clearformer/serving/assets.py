"""Files that are read once at the start and served from memory.

No request ever becomes a file name, so there is no path to climb out of.
"""

import hashlib
import mimetypes
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

KINDS = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}


@dataclass(frozen=True)
class Asset:
    """A file's content, its kind and its fingerprint."""

    content: bytes
    kind: str
    tag: str


class Assets:
    """A folder in memory. `index.html` answers for "/"."""

    def __init__(self, folder: Path) -> None:
        self._files = {
            f"/{path.relative_to(folder).as_posix()}": _read(path)
            for path in sorted(folder.rglob("*"))
            if path.is_file() and not path.is_symlink()
        }
        if "/index.html" in self._files:
            self._files["/"] = self._files["/index.html"]

    def __len__(self) -> int:
        return len(self._files)

    def size(self) -> int:
        """Bytes of all files together."""
        return sum(len(file.content) for path, file in self._files.items() if path != "/")

    def answer(self, request: Request) -> Response | None:
        """The file of exactly this path, or None."""
        file = self._files.get(request.url.path)
        if file is None:
            return None
        headers = {"etag": file.tag, "cache-control": "no-cache"}  # ask again, and be told that nothing has changed
        if request.headers.get("if-none-match") == file.tag:
            return Response(status_code=304, headers=headers)
        return Response(file.content, media_type=file.kind, headers=headers)


def _read(path: Path) -> Asset:
    content = path.read_bytes()
    kind = KINDS.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return Asset(content, kind, f'"{hashlib.sha256(content).hexdigest()[:32]}"')
