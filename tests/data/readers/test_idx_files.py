"""Pictures in idx files: by hand, and damaged in every way that a download can be."""

import gzip
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.data.readers.idx_files import MOST_BYTES, read_idx, read_idx_pair
from clearformer.data.readers.pictures import PictureError


def idx(*sizes, content=None, kind=8):
    """An idx file: two zeros, the kind of number, how many sizes, the sizes, the bytes."""
    bytes_ = np.arange(np.prod(sizes), dtype=np.int64).astype(np.uint8).tobytes() if content is None else content
    return bytes([0, 0, kind, len(sizes)]) + b"".join(struct.pack(">I", size) for size in sizes) + bytes_


def written(folder, name, content):
    (folder / name).write_bytes(content)
    return folder / name


def test_an_idx_file_by_hand(tmp_path):
    """Two pictures of 2 × 3 pixels, plain and gzipped, whatever the file is called."""
    for name, content in (("plain", idx(2, 2, 3)), ("packed", gzip.compress(idx(2, 2, 3)))):
        found = read_idx(written(tmp_path, name, content))
        assert found.dtype == np.uint8
        assert found.tolist() == [[[0, 1, 2], [3, 4, 5]], [[6, 7, 8], [9, 10, 11]]]


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
@given(cut=st.integers(0, 100))
def test_a_file_that_ends_early_is_refused_wherever_it_ends(tmp_path_factory, pack, cut):
    """Also in the middle of its header, where the sizes that are missing would read as zero pictures."""
    whole = pack(idx(4, 2, 3))
    path = written(tmp_path_factory.mktemp("idx"), "images-idx3", whole[: cut % len(whole)])
    with pytest.raises(PictureError, match=r"images-idx3 .*get it anew"):
        read_idx(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not an idx file of bytes"),
        (b"\x89PNG\r\n\x1a\n" + bytes(50), "is not an idx file of bytes"),
        (idx(2, 2, kind=13), "is not an idx file of bytes"),  # floats
        (bytes([0, 0, 8, 0]), "is not an idx file of bytes"),  # no dimension
        (bytes([0, 0, 8, 9]) + bytes(36), "is not an idx file of bytes"),
        (idx(2, 2) + b"x", r"does not hold the 4 bytes that its header says"),
        (idx(2**16, 2**17, content=b""), f"says that it holds {2**33:,} bytes, more than {MOST_BYTES:,}"),
        (gzip.compress(idx(2, 2))[:-8] + bytes(8), "cannot be read|is not a whole gzip file"),  # a wrong checksum
        (gzip.compress(idx(2, 2))[:10] + b"junk", "is not a whole gzip file|cannot be read"),
    ],
)
def test_what_is_no_idx_file_is_refused_by_name(tmp_path, content, message):
    with pytest.raises(PictureError, match=rf"train-images.*({message})"):
        read_idx(written(tmp_path, "train-images", content))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(PictureError, match=r"nowhere cannot be read \(No such file"):
        read_idx(tmp_path / "nowhere")


def test_pictures_and_labels_belong_together(tmp_path):
    pictures, labels = written(tmp_path, "x", idx(3, 2, 2)), written(tmp_path, "y", idx(3, content=bytes([7, 0, 9])))
    found = list(read_idx_pair(pictures, labels))
    assert [one.label for one in found] == ["7", "0", "9"]
    assert [one.pixels.shape for one in found] == [(2, 2, 1)] * 3
    assert found[1].pixels[..., 0].tolist() == [[4, 5], [6, 7]]
    assert found[1].path == f"{pictures}#1"
    colour = written(tmp_path, "c", idx(3, 2, 2, 3))
    assert next(read_idx_pair(colour, labels)).pixels.shape == (2, 2, 3)
    with pytest.raises(PictureError, match=r"y and .*x are not pictures and labels, in this order: exchange them"):
        list(read_idx_pair(labels, pictures))
    fewer = written(tmp_path, "few", idx(2))
    with pytest.raises(PictureError, match=r"x has 3 pictures but .*few has 2 labels"):
        list(read_idx_pair(pictures, fewer))
