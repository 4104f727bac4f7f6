"""Folders that are whole or absent: written aside, checksummed, flushed, then renamed into place.

A reader never sees half a folder, a crash leaves the old one, and a bit that flipped on disk is found by name.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

MANIFEST = "manifest.json"
_ASIDE = ".writing-"


class DamagedError(ValueError):
    """A folder is not what its manifest says."""


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Fill a folder aside, then put it at `path` in one step, with the checksum of every file in its manifest.

    An existing folder at `path` is replaced only once the new one is safe on disk. If the block fails, nothing changes.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.parent / f"{_ASIDE}{path.name}-{os.getpid()}"
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir()
    try:
        yield aside
        write_json(aside / MANIFEST, {"files": {file.name: _describe(file) for file in sorted(aside.iterdir())}})
        for file in aside.iterdir():
            _flush(file)
        _flush(aside)
        _put(aside, path)
    except OSError as error:
        shutil.rmtree(aside, ignore_errors=True)
        raise OSError(
            error.errno, f"{path} could not be written ({error.strerror}); what was there before is intact"
        ) from error
    except BaseException:
        shutil.rmtree(aside, ignore_errors=True)
        raise


def verify(path: Path) -> None:
    """Compare every file of a folder with its manifest; raises `DamagedError` with the file's name."""
    listed = read_manifest(path)
    present = {file.name for file in path.iterdir()} - {MANIFEST}
    for name in sorted(present - listed.keys()):
        raise DamagedError(f"{path / name} is not in the folder's manifest; remove it or get the folder anew")
    for name, expected in listed.items():
        file = path / name
        if not file.is_file():
            raise DamagedError(f"{file} is missing, but the folder's manifest names it; get the folder anew")
        if _describe(file) != expected:
            raise DamagedError(f"{file} is damaged: its checksum is not the manifest's; get the folder anew")


def read_manifest(path: Path) -> dict[str, dict[str, Any]]:
    """File names with their sizes and checksums."""
    try:
        files: dict[str, dict[str, Any]] = json.loads((path / MANIFEST).read_text(encoding="utf-8"))["files"]
    except FileNotFoundError as error:
        raise DamagedError(f"{path} has no {MANIFEST}: it was not written by clearformer, or not to its end") from error
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedError(f"{path / MANIFEST} cannot be read; get the folder anew") from error
    for name in files:
        if name != Path(name).name:
            raise DamagedError(f"{path / MANIFEST} names {name!r}, which is not a plain file name; refused")
    return files


def sweep(parent: Path) -> None:
    """Remove what an interrupted writer left behind."""
    for leftover in parent.glob(f"{_ASIDE}*"):
        shutil.rmtree(leftover, ignore_errors=True)


def point(link: Path, target: Path) -> None:
    """Make a relative link to a neighbouring folder, replacing an older link in one step."""
    aside = link.parent / f"{_ASIDE}{link.name}-{os.getpid()}"
    aside.unlink(missing_ok=True)
    aside.symlink_to(os.path.relpath(target, link.parent))
    aside.replace(link)
    _flush(link.parent)


def read_json(path: Path) -> Any:
    """What `write_json` wrote."""
    return json.loads(path.read_text(encoding="utf-8"))


def write_json(path: Path, value: Any) -> None:
    """Readable JSON with a final newline."""
    path.write_text(json.dumps(value, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def sha256(path: Path) -> str:
    """The checksum of a file, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _describe(file: Path) -> dict[str, Any]:
    return {"bytes": file.stat().st_size, "sha256": sha256(file)}


def _put(aside: Path, path: Path) -> None:
    """Rename into place; an older folder steps aside first, because a rename cannot replace a full folder."""
    if path.exists():
        old = path.parent / f"{_ASIDE}old-{path.name}-{os.getpid()}"
        path.rename(old)
        aside.rename(path)
        shutil.rmtree(old, ignore_errors=True)
    else:
        aside.rename(path)
    _flush(path.parent)


def _flush(path: Path) -> None:
    """Ask the system to put a file or a folder's entries on disk before we rely on them."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
