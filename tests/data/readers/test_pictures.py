"""Pictures come from cameras, scanners and strangers: each is read right or refused with its file's name."""

import io
import os
import struct
import threading
import warnings
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from clearformer.data.readers.pictures import (
    MOST_PIXELS,
    PictureError,
    fit_square,
    fit_within,
    label_order,
    read_picture,
)

GRADIENT = np.arange(0, 240, dtype=np.uint8).reshape(10, 8, 3)  # 10 high, 8 wide


def written(folder, name, content):
    (folder / name).write_bytes(content)
    return folder / name


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


@pytest.mark.parametrize("progressive", [False, True])
def test_a_jpeg_of_a_few_bytes_that_says_that_it_is_huge_is_refused(tmp_path, progressive):
    """The library would fill what is missing with grey, in a gigabyte, and say nothing."""
    path = saved(tmp_path, "bomb.jpg", Image.fromarray(GRADIENT), progressive=progressive)
    content = bytearray(path.read_bytes())
    struct.pack_into(">HH", content, content.find(b"\xff\xc2" if progressive else b"\xff\xc0") + 5, 8000, 8000)
    path.write_bytes(content)
    with pytest.raises(PictureError, match=r"bomb\.jpg .*\(its 8,000 × 8,000 pixels cannot be in so few bytes\)"):
        read_picture(path)


@pytest.mark.parametrize("options", [{}, {"progressive": True}, {"optimize": True, "quality": 1}, {"subsampling": 2}])
@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_an_honest_jpeg_of_one_colour_is_no_bomb(tmp_path, mode, options):
    path = saved(tmp_path, "plain.jpg", Image.new(mode, (2000, 1500)), **options)
    assert read_picture(path).shape[:2] == (1500, 2000)


def test_reading_changes_nothing_for_others(tmp_path):
    """The library's own limit belongs to the whole process, which may be somebody else's."""
    before = Image.MAX_IMAGE_PIXELS
    read_picture(saved(tmp_path, "a.png", Image.fromarray(GRADIENT)))
    assert before == Image.MAX_IMAGE_PIXELS


def test_a_missing_picture_a_folder_and_an_empty_file_are_named(tmp_path):
    with pytest.raises(PictureError, match=r"nothing\.png does not exist: check the name"):
        read_picture(tmp_path / "nothing.png")
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(PictureError, match=r"folder\.png cannot be read as a picture \(it is a folder\)"):
        read_picture(tmp_path / "folder.png")
    with pytest.raises(PictureError, match=r"empty\.png cannot be read as a picture \(it is empty\)"):
        read_picture(written(tmp_path, "empty.png", b""))
    with pytest.raises(PictureError, match=r"text\.png .*\(it is no PNG, JPEG, BMP, GIF, WebP or TIFF\)"):
        read_picture(written(tmp_path, "text.png", b"%!PS-Adobe-3.0 a program, which some readers would start"))


@pytest.mark.timeout(20)
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.png")
    with pytest.raises(PictureError, match=r"pipe\.png cannot be read as a picture \(it is no plain file\)"):
        read_picture(tmp_path / "pipe.png")


def test_the_content_decides_and_not_the_ending(tmp_path):
    image = Image.fromarray(GRADIENT)
    image.save(tmp_path / "really.png", "png")
    (tmp_path / "really.png").rename(tmp_path / "wrong.jpg")
    assert np.array_equal(read_picture(tmp_path / "wrong.jpg"), GRADIENT)


@pytest.mark.parametrize("kind", ["gif", "png", "webp", "tiff"])
def test_an_animation_has_no_single_picture(tmp_path, kind):
    """Taking the first frame would be a silent choice."""
    frames = [Image.new("RGB", (4, 4), colour) for colour in ("red", "blue", "green")]
    path = saved(tmp_path, f"moves.{kind}", frames[0], save_all=True, append_images=frames[1:])
    with pytest.raises(PictureError, match=r"moves.* \(it has 3 frames or pages\): save those that"):
        read_picture(path)


def test_a_second_picture_behind_a_telephone_s_jpeg_is_no_animation(tmp_path):
    first, second = Image.new("RGB", (8, 8), "red"), Image.new("RGB", (8, 8), "blue")
    path = saved(tmp_path, "phone.jpg", first, format="MPO", save_all=True, append_images=[second])
    assert read_picture(path)[4, 4].tolist() == pytest.approx([255, 0, 0], abs=3)


def test_what_is_transparent_lies_on_white(tmp_path):
    """What an editor leaves below full transparency is often black; nobody sees it."""
    half = Image.new("RGBA", (2, 1), (0, 0, 0, 0))
    half.putpixel((1, 0), (200, 0, 0, 255))
    assert read_picture(saved(tmp_path, "a.png", half)).tolist() == [[[255] * 3, [200, 0, 0]]]
    assert read_picture(tmp_path / "a.png", channels=1)[0, 0, 0] == 255
    grey = Image.new("LA", (1, 1), (0, 0))
    assert read_picture(saved(tmp_path, "g.png", grey)).tolist() == [[[255]]]
    palette = Image.new("P", (1, 1), 0)
    palette.putpalette([10, 20, 30])
    assert read_picture(saved(tmp_path, "p.png", palette)).tolist() == [[[10, 20, 30]]]
    assert read_picture(saved(tmp_path, "t.png", palette, transparency=0)).tolist() == [[[255] * 3]]


@pytest.mark.parametrize(
    ("numbers", "reason"),
    [(np.ones((2, 2), np.float32), "without a known range"), (np.full((2, 2), 70_000, np.int32), "more than 16 bits")],
)
def test_numbers_without_a_brightness_are_refused(tmp_path, numbers, reason):
    path = saved(tmp_path, "measured.tif", Image.fromarray(numbers))
    with pytest.raises(PictureError, match=rf"measured\.tif .*{reason}.*: save it with 8 or 16 bits a channel"):
        read_picture(path)


def test_pixels_may_stay_as_they_lie_in_the_file(tmp_path):
    """For boxes and masks that were drawn over those."""
    note = Image.Exif()
    note[0x0112] = 6
    path = saved(tmp_path, "phone.png", Image.fromarray(GRADIENT), exif=note)
    assert np.array_equal(read_picture(path, upright=False), GRADIENT)
    assert np.array_equal(read_picture(path), np.rot90(GRADIENT, -1))


def test_the_filters_of_warnings_survive_many_threads(tmp_path):
    path = saved(tmp_path, "a.png", Image.fromarray(GRADIENT))
    before = list(warnings.filters)
    threads = [threading.Thread(target=lambda: [read_picture(path) for _ in range(20)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert warnings.filters == before


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


@pytest.mark.parametrize("channels", [1, 3])
def test_a_picture_fits_within_a_length_and_small_ones_stay(channels):
    pixels = np.full((30, 90, channels), 200, dtype=np.uint8)
    assert fit_within(pixels, 90) is pixels
    small = fit_within(pixels, 45)
    assert small.shape == (15, 45, channels)
    assert (small == 200).all()
    assert fit_within(np.zeros((1, 5000, channels), dtype=np.uint8), 10).shape == (1, 10, channels)
