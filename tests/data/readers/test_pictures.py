"""Pictures come from cameras, scanners and strangers: each is read right or refused with its file's name."""

import gzip
import io
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from clearformer.data.readers.pictures import (
    MOST_BYTES,
    MOST_PIXELS,
    PictureError,
    class_folders,
    fit_square,
    label_order,
    read_class_folders,
    read_idx,
    read_idx_pair,
    read_picture,
)

GRADIENT = np.arange(0, 240, dtype=np.uint8).reshape(10, 8, 3)  # 10 high, 8 wide


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


def saved(folder, name, image, **options):
    image.save(folder / name, **options)
    return folder / name


def test_a_picture_comes_back_as_it_was_drawn(tmp_path):
    assert np.array_equal(read_picture(saved(tmp_path, "a.png", Image.fromarray(GRADIENT))), GRADIENT)
    grey = read_picture(saved(tmp_path, "g.png", Image.fromarray(GRADIENT[..., 0])))
    assert np.array_equal(grey, GRADIENT[..., :1])


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"])
@pytest.mark.parametrize("channels", [None, 1, 3])
def test_every_mode_becomes_grey_or_colour(tmp_path, mode, channels):
    """As asked for; otherwise as the picture has it."""
    path = saved(tmp_path, "m.png", Image.new(mode, (5, 4)))
    usual = 3 if mode in ("P", "RGB", "RGBA") else 1
    assert read_picture(path, channels=channels).shape == (4, 5, channels or usual)
    assert read_picture(path, channels=channels).dtype == np.uint8


def test_sixteen_bits_keep_their_upper_eight(tmp_path):
    """A plain conversion would make everything above 255 white."""
    deep = np.array([[0, 255, 256], [32768, 65279, 65535]], dtype=np.uint16)
    found = read_picture(saved(tmp_path, "deep.png", Image.fromarray(deep)))
    assert found[..., 0].tolist() == [[0, 0, 1], [128, 254, 255]]
    assert np.array_equal(read_picture(tmp_path / "deep.png", channels=3)[..., 2], found[..., 0])


def test_a_printer_s_colours_become_a_screen_s(tmp_path):
    """CMYK, as scanners and printers save it: no ink is white, all black ink is black."""
    inks = Image.new("CMYK", (16, 16), (0, 0, 0, 0))
    inks.paste((0, 0, 0, 255), (8, 0, 16, 16))
    found = read_picture(saved(tmp_path, "print.jpg", inks, quality=95))
    assert found.shape == (16, 16, 3)
    assert found[4, 2].min() > 240
    assert found[4, 13].max() < 15


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_telephone_that_was_held_sideways_gives_an_upright_picture(tmp_path, orientation):
    """The pixels lie as the sensor saw them; a note says how to turn them."""
    upright = Image.fromarray(GRADIENT)
    undo = {
        2: Image.Transpose.FLIP_LEFT_RIGHT, 3: Image.Transpose.ROTATE_180, 4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE, 6: Image.Transpose.ROTATE_90, 7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }  # fmt: skip
    note = Image.Exif()
    note[0x0112] = orientation
    as_seen = upright if orientation == 1 else upright.transpose(undo[orientation])
    found = read_picture(saved(tmp_path, "phone.png", as_seen, exif=note))
    assert np.array_equal(found, GRADIENT)


def test_a_single_pixel_is_a_picture(tmp_path):
    path = saved(tmp_path, "dot.png", Image.new("RGB", (1, 1), (9, 8, 7)))
    assert read_picture(path).tolist() == [[[9, 8, 7]]]
    assert (fit_square(read_picture(path), 4, 3) == [9, 8, 7]).all()


@pytest.mark.parametrize("kind", ["png", "jpeg", "gif", "bmp", "webp"])
def test_a_truncated_picture_is_refused_by_name(tmp_path, kind):
    stream = io.BytesIO()
    noise = np.random.default_rng(1).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    Image.fromarray(noise).save(stream, kind)
    for kept in (0, 1, 20, len(stream.getvalue()) // 2):
        path = written(tmp_path, f"cut.{kind}", stream.getvalue()[:kept])
        with pytest.raises(PictureError, match=rf"cut\.{kind} cannot be read as a picture .*: replace or remove it"):
            read_picture(path)


@given(st.binary(max_size=200))
def test_no_bytes_whatever_they_are_are_more_than_refused(tmp_path_factory, content):
    path = written(tmp_path_factory.mktemp("junk"), "junk.png", content)
    with pytest.raises(PictureError, match=r"junk\.png"):
        read_picture(path)


def png(width, height):
    """A whole PNG file of a few bytes that says that it is huge: all of its rows are zero, which packs well."""

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    rows = zlib.compress(bytes(1000), 9)
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
@pytest.mark.parametrize("size", [(MOST_PIXELS + 1, 1), (10_000, MOST_PIXELS // 10_000 + 1), (2**31 - 1, 2**31 - 1)])
def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path, size):
    path = written(tmp_path, "bomb.png", png(*size))
    with pytest.raises(PictureError, match=r"bomb\.png .*(pixels|too large)"):
        read_picture(path)


def test_reading_changes_nothing_for_others(tmp_path):
    """The library's own limit belongs to the whole process, which may be somebody else's."""
    before = Image.MAX_IMAGE_PIXELS
    read_picture(saved(tmp_path, "a.png", Image.fromarray(GRADIENT)))
    assert before == Image.MAX_IMAGE_PIXELS


def test_a_missing_picture_and_a_folder_are_named(tmp_path):
    with pytest.raises(PictureError, match=r"nothing\.png does not exist: check the name"):
        read_picture(tmp_path / "nothing.png")
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(PictureError, match=r"folder\.png cannot be read as a picture"):
        read_picture(tmp_path / "folder.png")


def test_one_folder_for_each_class(tmp_path):
    """In the order of names; what is no picture, hidden or empty is passed over."""
    for name in ("dog", "cat", "empty", ".hidden", "notes"):
        (tmp_path / name).mkdir()
    for name in ("dog/2.PNG", "dog/1.jpg", "cat/a.png", ".hidden/x.png"):
        saved(tmp_path, name, Image.new("RGB", (2, 2)))
    (tmp_path / "notes" / "read-me.txt").write_text("no picture")
    (tmp_path / "cat" / "thumbs.db").write_bytes(b"no picture")
    assert [folder.name for folder in class_folders(tmp_path)] == ["cat", "dog"]
    found = list(read_class_folders(tmp_path, channels=1))
    assert [(one.label, one.path.rpartition("/")[2]) for one in found] == [
        ("cat", "a.png"), ("dog", "1.jpg"), ("dog", "2.PNG")
    ]  # fmt: skip
    assert all(one.pixels.shape == (2, 2, 1) for one in found)


@given(st.integers(1, 9), st.integers(1, 9), st.sampled_from([1, 3]), st.sampled_from([1, 3]), st.integers(1, 6))
def test_any_picture_fits_the_square(height, width, given_channels, channels, size):
    pixels = np.full((height, width, given_channels), 77, dtype=np.uint8)
    found = fit_square(pixels, size, channels)
    assert found.shape == (size, size, channels)
    assert (found == 77).all()  # a picture of one grey is that grey at every size


def test_the_middle_is_kept():
    wide = np.zeros((4, 8, 1), dtype=np.uint8)
    wide[:, 2:6] = 200
    assert (fit_square(wide, 4, 1) == 200).all()


def test_numbers_are_ordered_by_value_and_words_by_letter():
    assert label_order(["10", "9", "0", "9"]) == ("0", "9", "10")
    assert label_order(["dog", "cat", "10"]) == ("10", "cat", "dog")
