"""Folders that are whole or absent: written aside, checksummed, flushed, then renamed into place.

A reader never sees half a folder, a crash leaves the old one, and a bit that flipped on disk is found by name.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors import SafetensorError

if TYPE_CHECKING:
    from torch import Tensor

MANIFEST = "manifest.json"
_ASIDE = ".writing-"  # on its way in, or on its way out: of no value after a crash
_REPLACED = ".replaced-"  # a folder whose successor is about to take its name: valuable until it has


class DamagedError(ValueError):
    """A folder is not what its manifest says."""


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Fill a folder aside, then put it at `path` in one step, with the checksum of every file in its manifest.

    An existing folder at `path` is replaced only once the new one is safe on disk. If the block fails, nothing changes.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = _aside(path)
    discard(aside)
    try:
        aside.mkdir()
        yield aside
        write_json(aside / MANIFEST, {"files": {name: _describe(aside / name) for name in _files(aside)}})
        for entry in aside.rglob("*"):
            _flush(entry)
        _flush(aside)
        _put(aside, path)
    except OSError as error:
        discard(aside)
        raise OSError(
            f"{path} could not be written: {error.strerror or error}; what was there before is intact, make room and "
            "start again"
        ) from error
    except BaseException:
        discard(aside)
        raise


def _files(folder: Path) -> list[str]:
    """The files of a folder and of those in it, by their names from there."""
    return sorted(entry.relative_to(folder).as_posix() for entry in folder.rglob("*") if not entry.is_dir())


def verify(path: Path, *, content: bool = True) -> None:
    """Compare every file of a folder with its manifest; raises `DamagedError` with the file's name.

    Without `content` the files are not read: only their names and sizes are compared.
    """
    listed = read_manifest(path)
    present = {*_files(path)} - {MANIFEST}
    for name in sorted(present - listed.keys()):
        raise DamagedError(f"{path / name} is not in the folder's manifest; remove it or get the folder anew")
    for name, expected in listed.items():
        file = path / name
        if not file.is_file():
            raise DamagedError(f"{file} is missing, but the folder's manifest names it; get the folder anew")
        if file.stat().st_size != expected.get("bytes"):
            size = f"it has {file.stat().st_size:,} bytes and the manifest says {expected.get('bytes')}"
            raise DamagedError(f"{file} is damaged: {size}; get the folder anew")
        if content and _describe(file) != expected:
            raise DamagedError(f"{file} is damaged: its checksum is not the manifest's; get the folder anew")


def read_manifest(path: Path) -> dict[str, dict[str, Any]]:
    """File names with their sizes and checksums."""
    try:
        files: dict[str, dict[str, Any]] = dict(json.loads((path / MANIFEST).read_text(encoding="utf-8"))["files"])
    except FileNotFoundError as error:
        raise DamagedError(f"{path} has no {MANIFEST}: it was not written by clearformer, or not to its end") from error
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedError(f"{path / MANIFEST} cannot be read; get the folder anew") from error
    for name, facts in files.items():
        if not isinstance(facts, dict):
            raise DamagedError(f"{path / MANIFEST} cannot be read; get the folder anew")
        if not isinstance(name, str) or name != Path(name).name or "\\" in name or "\0" in name:
            raise DamagedError(f"{path / MANIFEST} names {name!r}, which is not a plain file name; refused")
    return files


def sweep(parent: Path, only: str | None = None) -> None:
    """Clear up after an interrupted writer: half-written folders go, a replaced one without a successor comes back.

    For a folder that nobody else is writing to, or, with `only`, for one name in it that nobody else is writing.
    """
    for old in parent.glob(f"{_REPLACED}*"):
        place = parent / old.name.removeprefix(_REPLACED)
        if only not in (None, place.name):
            continue
        if place.exists():
            discard(old)
        else:
            old.rename(place)
    for leftover in parent.glob(f"{_ASIDE}*"):
        name, _, _ = leftover.name.removeprefix(_ASIDE).rpartition("-")  # behind it stands the writer's number
        if only in (None, name):
            discard(leftover)


def remove(path: Path) -> None:
    """Take a folder away in one step, so that a crash never leaves half of it under its name."""
    aside = _aside(path)
    discard(aside)
    path.rename(aside)
    discard(aside)


def discard(path: Path) -> None:
    """Delete whatever is there, a folder or a link or nothing."""
    if path.is_symlink():
        path.unlink()
    else:
        shutil.rmtree(path, ignore_errors=True)


def point(link: Path, target: Path) -> None:
    """Make a relative link to a neighbouring folder, replacing an older link in one step."""
    aside = _aside(link)
    discard(aside)
    aside.symlink_to(os.path.relpath(target, link.parent))
    aside.replace(link)
    _flush(link.parent)


def read_json(path: Path) -> Any:
    """What `write_json` wrote."""
    return json.loads(path.read_text(encoding="utf-8"))


def write_json(path: Path, value: Any) -> None:
    """Readable JSON with a final newline."""
    with naming(path):
        path.write_text(json.dumps(value, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def read_tensors(path: Path) -> "dict[str, Tensor]":
    """What `write_tensors` wrote. The tensors are views of the file: copy what has to outlive it."""
    from safetensors.torch import load_file  # here, so that folders without tensors cost no PyTorch

    try:
        return load_file(path)
    except SafetensorError as error:
        raise DamagedError(f"{path} cannot be read: {error}; get the folder anew") from error


def write_tensors(path: Path, tensors: "Mapping[str, Tensor]") -> None:
    """Tensors by name as one file of the safetensors format, which holds numbers and no code."""
    from safetensors.torch import save_file

    with naming(path):
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Say which file could not be written: neither the system nor the tensor library does when a disk is full."""
    try:
        yield
    except (OSError, SafetensorError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise OSError(f"{path.name}: {reason}") from error


def sha256(path: Path) -> str:
    """The checksum of a file, read in pieces."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _describe(file: Path) -> dict[str, Any]:
    return {"bytes": file.stat().st_size, "sha256": sha256(file)}


def _aside(path: Path) -> Path:
    return path.parent / f"{_ASIDE}{path.name}-{os.getpid()}"


def _put(aside: Path, path: Path) -> None:
    """Rename into place; an older folder steps aside first, because a rename cannot replace a full folder."""
    replaced = path.parent / f"{_REPLACED}{path.name}"
    if path.exists():
        discard(replaced)
        path.rename(replaced)
    aside.rename(path)
    _flush(path.parent)
    discard(replaced)


def _flush(path: Path) -> None:
    """Ask the system to put a file or a folder's entries on disk before we rely on them."""
    with naming(path):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
