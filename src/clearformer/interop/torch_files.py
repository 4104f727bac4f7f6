"""Files that `torch.save` wrote (.bin, .pt), never opened in this process.

Loading one with PyTorch's own function may run any code. `unpickle.py`, a separate program in a process that can do
nothing else, extracts the tensors and writes them as safetensors, which hold numbers only.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from clearformer.interop.foreign_files import open_binary, read_json, size_of

PROGRAM = Path(__file__).parent / "unpickle.py"
_SECONDS = 60  # for a small file; larger ones get more


def can_read(path: Path) -> bool:
    """Whether a file looks like one of PyTorch's: an archive, or an old file that begins with a protocol number."""
    if not path.is_file() or path.suffix not in (".bin", ".pt", ".pth", ".ckpt"):
        return False
    with open_binary(path) as file:
        start = file.read(4)
    return start == b"PK\x03\x04" or start[:1] == b"\x80"


def convert(source: Path, out: Path) -> None:
    """Write the tensors of a file, or of all files that an index names, as one safetensors file."""
    parts = _parts(source) if source.name.endswith(".index.json") else [source]
    allowed = _SECONDS + sum(map(size_of, parts)) // (4 << 20)
    with tempfile.TemporaryDirectory(prefix="clearformer-") as aside:
        made = Path(aside) / "model.safetensors"
        _run([str(made), *(str(part.resolve()) for part in parts)], source, allowed, aside)
        shutil.move(made, out)


def _run(arguments: Sequence[str], source: Path, seconds: int, folder: str) -> None:
    """Isolated from the environment, the current folder and every open file; ended if it takes too long."""
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", str(PROGRAM), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
            cwd=folder,
            env={},
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ValueError(f"{source}: it takes longer than a file of its size can need; refused") from None
    if done.returncode:
        said = done.stderr.strip().splitlines()
        reason = (
            said[-1] if done.returncode == 1 and said else "it takes more memory or time than a file of its size can"
        )
        raise ValueError(f"{source}: {reason}; refused")


def _parts(index: Path) -> list[Path]:
    placed = read_json(index).get("weight_map")
    if not isinstance(placed, dict) or not placed or not all(isinstance(file, str) for file in placed.values()):
        raise ValueError(f"{index} has no weight_map from tensors to files; download it again")
    files = sorted(set(placed.values()))
    for file in files:
        if file != Path(file).name or "\\" in file or "\0" in file or not file.endswith(".bin"):
            raise ValueError(f"{index} names {file!r}, which is not a .bin file of this folder; refused")
    return [index.parent / file for file in files]
