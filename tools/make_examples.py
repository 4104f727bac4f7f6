"""Make the pictures and recordings that ship, src/clearformer/examples, from the test parts of the data sets.

    CLEARFORMER_DATA=… python tools/make_examples.py

Which ones: the first digit of each class in MNIST's test file, the first two pictures of BCCD's test list that show all
three kinds of cells, two of the nuclei's test pictures, and spoken digits with the number 0, alone and one after the
other. Nothing was chosen by what a model makes of it.
"""

import gzip
import io
import os
import tarfile
import wave
from pathlib import Path

import numpy as np
from PIL import Image

DATA = Path(os.environ["CLEARFORMER_DATA"])
EXAMPLES = Path(__file__).parent.parent / "src" / "clearformer" / "examples"
NUCLEI = (0, 20)  # of the 30 test pictures
SPOKEN = ("3_george_0", "7_jackson_0", "9_nicolas_0")  # digit, speaker, number
IN_A_ROW = ("2_theo_0", "0_theo_0", "2_theo_1", "6_theo_0")
PAUSE = 0.15  # seconds


def main() -> None:
    """All of them, over what is there."""
    for name in ("digits", "blood", "nuclei", "speech"):
        (EXAMPLES / name).mkdir(parents=True, exist_ok=True)
    digits()
    blood()
    nuclei()
    speech()


def digits() -> None:
    """One picture of each digit."""
    folder = DATA / "mnist"
    pixels = np.frombuffer(_unpacked(folder / "t10k-images-idx3-ubyte.gz"), np.uint8, offset=16)
    labels = np.frombuffer(_unpacked(folder / "t10k-labels-idx1-ubyte.gz"), np.uint8, offset=8)
    for digit in range(10):
        first = int(np.flatnonzero(labels == digit)[0])
        Image.fromarray(pixels.reshape(-1, 28, 28)[first]).save(EXAMPLES / "digits" / f"{digit}.png")


def blood() -> None:
    """The files as they are."""
    with tarfile.open(DATA / "bccd" / "BCCD.tar.gz") as packed:
        names = _member(packed, "BCCD/ImageSets/Main/test.txt").decode().split()
        for name in [name for name in names if _has_all_kinds(packed, name)][:2]:
            (EXAMPLES / "blood" / f"{name}.jpg").write_bytes(_member(packed, f"BCCD/JPEGImages/{name}.jpg"))


def _has_all_kinds(packed: tarfile.TarFile, name: str) -> bool:
    marked = _member(packed, f"BCCD/Annotations/{name}.xml").decode()
    return all(f"<name>{kind}</name>" in marked for kind in ("RBC", "WBC", "Platelets"))


def nuclei() -> None:
    """As PNG."""
    stored = np.load(DATA / "nuclei-dsb2018" / "nuclei_256.npz")
    places = np.flatnonzero(stored["split"] == "test")
    for number, which in enumerate(NUCLEI, start=1):
        Image.fromarray(stored["images"][places[which]]).save(EXAMPLES / "nuclei" / f"nuclei-{number}.png")


def speech() -> None:
    """Single digits as they are, and some of one speaker joined."""
    with tarfile.open(DATA / "fsdd" / "recordings.tar.gz") as packed:
        inside = {Path(name).stem: name for name in packed.getnames()}
        for name in SPOKEN:
            (EXAMPLES / "speech" / f"{name}.wav").write_bytes(_member(packed, inside[name]))
        sounds = [_sound(_member(packed, inside[name])) for name in IN_A_ROW]
    with wave.open(str(EXAMPLES / "speech" / "2026_theo.wav"), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(8000)
        quiet = bytes(2 * int(8000 * PAUSE))
        out.writeframes(quiet + quiet.join(sounds) + quiet)


def _unpacked(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes())


def _sound(content: bytes) -> bytes:
    with wave.open(io.BytesIO(content)) as read:
        assert (read.getnchannels(), read.getsampwidth(), read.getframerate()) == (1, 2, 8000)
        return read.readframes(read.getnframes())


def _member(packed: tarfile.TarFile, name: str) -> bytes:
    found = packed.extractfile(name)
    assert found is not None, name
    return found.read()


if __name__ == "__main__":
    main()
