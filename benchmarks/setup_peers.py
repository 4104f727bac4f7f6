"""Install the peers that `clearformer bench` runs beside this package: `python benchmarks/setup_peers.py [NAME …]`.

Every peer has its own environment, because their requirements contradict each other. All of them use the torch that is
installed here: a second one would take gigabytes, and another version would change the comparison. A peer whose
metadata asks for an older torch gets this one all the same; the bench reports whether it runs. A second run installs
only what is missing.
"""

import argparse
import json
import subprocess
import sys
import sysconfig
import tomllib
import venv
from pathlib import Path
from typing import Any

from clearformer.bench.contenders import REASON, environment

HERE = Path(__file__).parent
NEEDS = """
import json, sys
from importlib import metadata
print(json.dumps([need for need in metadata.requires(sys.argv[1]) or [] if "extra ==" not in need]))
"""


def main() -> int:
    known = tomllib.loads((HERE / "contenders.toml").read_text(encoding="utf-8"))
    peers = {name: entry for name, entry in known.items() if "requirement" in entry}
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"all if none is given: {', '.join(peers)}")
    parser.add_argument("--again", action="store_true", help="also those that are installed or that failed before")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - peers.keys():
        parser.error(f"no peer is called {', '.join(sorted(unknown))}; there are {', '.join(peers)}")
    for name in arguments.names or peers:
        folder = environment(name)
        if (folder / REASON).exists() and not arguments.again:
            failure = json.loads((folder / REASON).read_text(encoding="utf-8"))
        else:
            print(f"{name}: installing into {folder} …", flush=True)
            failure = install(peers[name], folder)
            (folder / REASON).write_text(json.dumps(failure), encoding="utf-8")
        print(f"{name}: {failure or 'ready'}", flush=True)
    return 0


def install(peer: dict[str, Any], folder: Path) -> str | None:
    """Make the environment; returns why it could not be made, or None."""
    python = create(folder)
    without = {"torch", *peer.get("without", ())}
    try:
        pip(python, "--no-deps", peer["requirement"])
        asked = subprocess.run([python, "-c", NEEDS, peer["package"]], capture_output=True, text=True, check=True)
        needs = [need for need in json.loads(asked.stdout) if project(need) not in without]
        if wanted := [*needs, *peer.get("also", ())]:
            pip(python, *wanted)
    except subprocess.CalledProcessError as error:
        return f"does not install: {last_words(error.stderr)}"
    return None


def create(folder: Path) -> Path:
    """An empty environment that looks for what it lacks among our packages, torch first of all; returns its Python.

    The link is a plain entry of the path, so the .pth files there, one of which leads to our own source, are not read.
    """
    venv.create(folder, with_pip=False, clear=True)
    [packages] = (folder / "lib").glob("python*/site-packages")
    (packages / "ours.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return folder / "bin" / "python"


def pip(python: Path, *words: str) -> None:
    """Install, with torch held at ours: a dependency of a dependency may ask for another."""
    held = python.parent.parent / "torch.txt"
    held.write_text("torch==2.13.0\n", encoding="utf-8")
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--constraint", held, *words],
        capture_output=True,
        text=True,
        check=True,
    )


def project(requirement: str) -> str:
    """The name at the start of "torch (<1.14.0,>=1.10.0)"."""
    end = next((place for place, letter in enumerate(requirement) if not (letter.isalnum() or letter in "-_.")), None)
    return requirement[:end].lower().replace("_", "-")


def last_words(text: str) -> str:
    """pip's reason: its last error line that carries information."""
    errors = [line.strip() for line in text.splitlines() if "rror" in line and "subprocess" not in line]
    return errors[-1].removeprefix("ERROR: ") if errors else text.strip().rpartition("\n")[2]


if __name__ == "__main__":
    sys.exit(main())
