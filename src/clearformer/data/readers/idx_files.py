"""Pictures and labels in idx files, as MNIST has them: a big-endian header with the sizes, then bytes.

What is damaged or lies about its size is refused by file name, before its promises are believed.
"""

import gzip
import math
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from clearformer.data.file_facts import GZIP_MAGIC
from clearformer.data.readers.picture_sets import LabelledPicture
from clearformer.data.readers.pictures import PictureError

MOST_BYTES = 4 << 30  # of an idx file, unpacked
PIECE = 1 << 20  # bytes that are read at a time: a header may promise what is not there
UNSIGNED_BYTES = 0x08  # idx's code for the only kind of number that pictures and labels have


def read_idx(path: Path) -> NDArray[np.uint8]:
    """An idx file, plain or gzipped."""
    if path.is_dir():
        raise PictureError(f"{path} is a folder, not an idx file: leave the labels out if it holds classes")
    try:
        with path.open("rb") as file:
            packed = file.peek(2)[:2] == GZIP_MAGIC
        with gzip.open(path) if packed else path.open("rb") as stream:
            header = stream.read(4)
            if len(header) != 4 or header[:2] != b"\0\0" or header[2] != UNSIGNED_BYTES or not 1 <= header[3] <= 4:
                raise PictureError(f"{path} is not an idx file of bytes: get it anew, or give a folder of pictures")
            sizes = stream.read(4 * header[3])
            if len(sizes) != 4 * header[3]:
                raise PictureError(f"{path} ends in the middle of its header: get it anew")
            shape = [int(size) for size in np.frombuffer(sizes, dtype=">u4")]
            wanted = math.prod(shape)
            if wanted > MOST_BYTES:
                raise PictureError(f"{path} says that it holds {wanted:,} bytes, more than {MOST_BYTES:,}; refused")
            content = bytearray()
            while len(content) <= wanted and (piece := stream.read(min(PIECE, wanted + 1 - len(content)))):
                content += piece
    except OSError as error:
        raise PictureError(f"{path} cannot be read ({error.strerror or error}): check the file") from error
    except (EOFError, zlib.error) as error:
        raise PictureError(f"{path} is not a whole gzip file ({error}): get it anew") from error
    if len(content) != wanted:
        raise PictureError(f"{path} does not hold the {wanted:,} bytes that its header says: get it anew")
    return np.frombuffer(content, dtype=np.uint8).reshape(shape)


def read_idx_pair(pictures: Path, labels: Path) -> Iterator[LabelledPicture]:
    """Pictures and their classes from two idx files."""
    drawn, named = read_idx(pictures), read_idx(labels)
    if drawn.ndim not in (3, 4) or named.ndim != 1:
        raise PictureError(f"{pictures} and {labels} are not pictures and labels, in this order: exchange them?")
    if len(drawn) != len(named):
        raise PictureError(f"{pictures} has {len(drawn):,} pictures but {labels} has {len(named):,} labels")
    whole = drawn if drawn.ndim == 4 else drawn[..., None]
    if not whole.size or whole.shape[-1] not in (1, 3):
        shape = " × ".join(map(str, drawn.shape))
        raise PictureError(f"{pictures} has {shape} bytes, which are no grey or colour pictures: get it anew")
    for number, (pixels, label) in enumerate(zip(whole, named, strict=True)):
        yield LabelledPicture(pixels=pixels, label=str(int(label)), path=f"{pictures}#{number}")
