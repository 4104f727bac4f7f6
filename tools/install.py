"""Install this package and what it needs, and say how it goes: python tools/install.py '.[pictures,sound]'

pip alone is silent with --quiet and says hundreds of lines without. Here each package that is fetched is a line with
its size, and so is the installation itself; on a terminal the line is written over. What goes wrong, pip says in full.
"""

import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator

FETCHED = re.compile(
    r"^\s*(?:Downloading|Using cached|Processing) (?:\S*/)?([^\s/]+\.(?:whl|tar\.gz))( \([^)]+\))?\s*$"
)
UNPACKED = re.compile(r"^Installing collected packages: (.*)$")


def stages(lines: Iterable[str]) -> Iterator[str]:
    """What pip is at, from what it prints."""
    for line in lines:
        if found := FETCHED.match(line):
            yield f"fetching {found[1]}{found[2] or ''}"
        elif found := UNPACKED.match(line):
            count = len(found[1].split(","))
            yield f"installing {count} {'package' if count == 1 else 'packages'}, which takes longest"


def main(wanted: list[str]) -> int:
    """Run pip and show its stages; its exit code."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--progress-bar", "off"]
    started, over = time.monotonic(), sys.stdout.isatty()
    with subprocess.Popen([*command, "-e", *wanted], stdout=subprocess.PIPE, text=True) as pip:
        assert pip.stdout is not None
        for stage in stages(pip.stdout):
            said = f"  {time.monotonic() - started:4.0f} s  {stage}"
            print(f"\r\x1b[K{said}" if over else said, end="" if over else "\n", flush=True)
    if over:
        print("\r\x1b[K", end="")
    if pip.returncode == 0:
        print(f"  done in {time.monotonic() - started:.0f} s", flush=True)
    return pip.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
