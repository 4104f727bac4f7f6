"""Mask files: numbers of 8 and 16 bits and palettes are read; shades, colours and damage are refused by name."""

import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from clearformer.data.readers.mask_files import MaskedPicture, join_instances, read_mask
from clearformer.data.readers.pictures import PictureError

MASK = np.array([[0, 1, 1], [2, 2, 3]], dtype=np.uint8)


def write(path, values, **options):
    Image.fromarray(values).save(path, **options)
    return path


def test_numbers_stay_as_they_are_whatever_the_file_s_form(tmp_path):
    assert (read_mask(write(tmp_path / "8.png", MASK)) == MASK).all()
    deep = (MASK.astype(np.uint16) * 20_000).astype(np.uint16)
    assert (read_mask(write(tmp_path / "16.png", deep)) == deep).all()
    palette = Image.fromarray(MASK).convert("P")
    palette.putdata(MASK.ravel().tolist())
    palette.putpalette([255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 9, 9])
    palette.save(tmp_path / "p.png")
    assert (read_mask(tmp_path / "p.png") == MASK).all()
    assert (read_mask(write(tmp_path / "grey.png", np.repeat(MASK[..., None], 3, axis=2))) == MASK).all()
    bits = write(tmp_path / "1.png", MASK > 1)
    assert read_mask(bits).tolist() == [[0, 0, 0], [1, 1, 1]]


def test_colours_have_to_be_listed(tmp_path):
    red, blue = (255, 0, 0), (0, 0, 255)
    drawn = np.array([[(0, 0, 0), red, blue]], dtype=np.uint8)
    path = write(tmp_path / "c.png", drawn)
    with pytest.raises(PictureError, match=r"c.png is a mask in colours \(such as #ff0000\).*classes.txt"):
        read_mask(path)
    known = {(0, 0, 0): 0, red: 1, blue: 5}
    assert read_mask(path, known).tolist() == [[0, 1, 5]]
    with pytest.raises(PictureError, match=r"c.png has the colour #0000ff, which classes.txt does not list"):
        read_mask(path, {(0, 0, 0): 0, red: 1})


def test_what_is_no_mask_is_refused_by_name(tmp_path):
    whole = write(tmp_path / "whole.png", np.tile(MASK, (40, 40))).read_bytes()
    (tmp_path / "cut.png").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "none.png").write_bytes(b"")
    write(tmp_path / "shades.jpg", MASK)
    for name in ("cut.png", "none.png"):
        with pytest.raises(PictureError, match=rf"{name} cannot be read as a mask"):
            read_mask(tmp_path / name)
    with pytest.raises(PictureError, match=r"shades.jpg .*JPEG changes the numbers of a mask; save it as PNG"):
        read_mask(tmp_path / "shades.jpg")
    with pytest.raises(PictureError, match=r"nowhere.png does not exist"):
        read_mask(tmp_path / "nowhere.png")


def test_a_bomb_is_refused_by_its_header(tmp_path):
    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 0, 0, 0, 0)
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")
    (tmp_path / "bomb.png").write_bytes(png)
    with pytest.raises(PictureError, match=r"bomb.png cannot be read as a mask"):
        read_mask(tmp_path / "bomb.png")


def test_one_file_for_each_instance_becomes_one_mask(tmp_path):
    files = []
    for number, columns in enumerate((slice(0, 2), slice(1, 3)), start=1):
        one = np.zeros((2, 4), dtype=np.uint8)
        one[:, columns] = 255
        files.append(write(tmp_path / f"{number}.png", one))
    assert join_instances(files).tolist() == [[1, 2, 2, 0]] * 2
    other = write(tmp_path / "other.png", np.zeros((3, 3), dtype=np.uint8))
    with pytest.raises(PictureError, match=r"other.png has another size than .*1.png"):
        join_instances([*files, other])


def test_a_mask_of_another_size_is_refused():
    with pytest.raises(PictureError, match=r"a.png: mask and picture have different sizes \(3 × 2 and 5 × 4\)"):
        MaskedPicture(pixels=np.zeros((4, 5, 1), dtype=np.uint8), mask=MASK.astype(np.uint16), path="a.png")
