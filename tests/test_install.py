"""`make demo` says what it is at while it installs, and what goes wrong as pip says it."""

import importlib.util
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parent.parent / "tools" / "install.py"

PIPS_LINES = """\
Obtaining file:///home/ada/clearformer
  Installing build dependencies: started
Collecting torch==2.13.0 (from -c constraints.txt (line 1))
  Downloading torch-2.13.0-cp311-cp311-linux_x86_64.whl.metadata (30 kB)
Requirement already satisfied: numpy in ./.venv/lib (2.3.1)
Downloading https://some.where/torch-2.13.0-cp311-cp311-linux_x86_64.whl (180.3 MB)
Processing ./wheels/six-1.17.0-py2.py3-none-any.whl
Using cached tokenizers-0.22.0-py3-none-any.whl (3 MB)
Installing collected packages: tokenizers, torch, clearformer
Successfully installed clearformer-0.1.0
"""


def test_each_stage_is_a_line():
    said = importlib.util.spec_from_file_location("install", SCRIPT)
    install = importlib.util.module_from_spec(said)
    said.loader.exec_module(install)
    assert list(install.stages(PIPS_LINES.splitlines(keepends=True))) == [
        "fetching torch-2.13.0-cp311-cp311-linux_x86_64.whl (180.3 MB)",
        "fetching six-1.17.0-py2.py3-none-any.whl",
        "fetching tokenizers-0.22.0-py3-none-any.whl (3 MB)",
        "installing 3 packages, which takes longest",
    ]


def test_a_failure_is_pips_own(tmp_path):
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path / "nothing")],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode != 0
    assert "nothing" in done.stderr
    assert "done in" not in done.stdout
