"""Files damaged at random, and readers that must refuse them: read in a process of its own, which may crash or hang.

    python -m support.damage png 1 2500 FOLDER      (with tests and src on PYTHONPATH)

For each of so many files, drawn from the seed: the reader gives sound values, or refuses in one sentence that names the
file. The process watches seconds of processor time and the memory that it had at most, a library's own included.
"""

import json
import os
import resource
import struct
import subprocess
import sys
import time
import warnings
import zlib
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

SECONDS = 1.0  # of processor time for one file
BYTES = 400 << 20  # that a process may grow by: an honest picture of the largest size allowed takes about as much
LIMITS = (b"\xff\xff\xff\xff", b"\x00\x00\x00\x00", b"\xff\xff\xff\x7f", b"\x7f\xff\xff\xff", b"\x00\x00\xff\xff")
PNG = b"\x89PNG\r\n\x1a\n"


class Files(Protocol):
    """A kind of file. name: what a refusal has to name."""

    name: str

    def read_whole(self) -> None:
        """Read what is not damaged; what is loaded at the first use is loaded then."""

    def write(self, draw: np.random.Generator) -> None:
        """Write the next damaged file."""

    def read(self) -> str | None:
        """What it is refused with; None where it is read, as values that make sense."""

    def remove(self) -> None:
        """Leave nothing behind."""


class Outcome(NamedTuple):
    """How many files were refused and read; the longest that one took, in seconds; by how many bytes memory grew."""

    refused: int
    read: int
    slowest: float
    grown: int


def read_damaged(kind: str, *, count: int, seed: int, folder: Path) -> Outcome:
    """Let a new process read so many damaged files; what it did wrong fails the test, with the file kept."""
    tests = Path(__file__).parents[1]
    path = os.pathsep.join([str(tests), str(tests.parent / "src"), os.environ.get("PYTHONPATH", "")])
    words = [sys.executable, "-m", "support.damage", kind, str(seed), str(count), str(folder)]
    done = subprocess.run(
        words,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=60 + 2 * count,
        check=False,
    )
    assert done.returncode == 0, f"code {done.returncode} at {sorted(folder.iterdir())}: {done.stderr[-2000:]}"
    outcome = Outcome(**json.loads(done.stdout.splitlines()[-1]))
    assert outcome.refused + outcome.read == count
    assert outcome.refused, "damage that is never noticed tests nothing"
    return outcome


def damaged(content: bytes, draw: np.random.Generator, others: tuple[bytes, ...] = ()) -> bytes:
    """One to four of: changed bytes, half of them in the header; a cut; a piece twice; a limit; another file's end."""
    made = bytearray(content)
    for _ in range(int(draw.integers(1, 5))):
        if not made:
            break
        kind = draw.integers(6)
        place = int(draw.integers(min(len(made), 60) if draw.random() < 0.5 else len(made)))
        if kind == 0:
            made[place : place + 1] = bytes([int(draw.integers(256))])
        elif kind == 1 and draw.random() < 0.4:  # a cut file is refused for that, whatever else is wrong
            del made[int(draw.integers(len(made) + 1)) :]
        elif kind == 2:
            made[place:place] = made[place : place + int(draw.integers(1, 40))]
        elif kind == 3:
            made[place : place + 4] = LIMITS[int(draw.integers(len(LIMITS)))]
        elif kind == 4:
            made[place] ^= 1 << int(draw.integers(8))
        elif others:
            other = others[int(draw.integers(len(others)))]
            made[place:] = other[int(draw.integers(len(other))) :]
    return bytes(made)


def with_right_sums(content: bytes) -> bytes:
    """A PNG with the checksums that its chunks should have, so that a reader looks further than at those."""
    if content[:8] != PNG:
        return content
    made, place = bytearray(content), 8
    while place + 12 <= len(made):
        (length,) = struct.unpack_from(">I", made, place)
        if place + 12 + length > len(made):
            break
        struct.pack_into(">I", made, place + 8 + length, zlib.crc32(made[place + 4 : place + 8 + length]))
        place += 12 + length
    return bytes(made)


def _main(kind: str, seed: int, count: int, folder: Path) -> None:
    from support.damaged_kinds import KINDS

    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))  # a bomb ends this process, not the machine
    files = KINDS[kind](folder)
    draw = np.random.default_rng(seed)
    files.read_whole()
    warnings.simplefilter("error")  # nobody can do anything about a line on the terminal
    before, slowest, refused = _memory(), 0.0, 0
    for number in range(count):
        files.write(draw)
        started = time.process_time()
        said = files.read()
        slowest = max(slowest, seconds := time.process_time() - started)
        assert seconds < SECONDS, f"file {number} took {seconds:.2f} s: {said}"
        assert _memory() - before < BYTES, f"file {number} took {(_memory() - before) >> 20} MB: {said}"
        if said is not None:
            refused += 1
            assert "\n" not in said, f"file {number} was not refused in one sentence: {said}"
            assert files.name in said, f"file {number} was not refused by its name: {said}"
            assert len(said) < len(str(folder)) + 300, f"file {number} was refused at length: {said}"
            assert "memory" not in said, f"file {number} was tried: {said}"
    files.remove()
    told = Outcome(refused=refused, read=count - refused, slowest=slowest, grown=_memory() - before)
    print(json.dumps(told._asdict()))


def _memory() -> int:
    """The most that was resident so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    _main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]))
