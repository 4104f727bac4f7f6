"""What is wrong with a box is said by file and object, and boxes turn with a picture that is stored on its side."""

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from clearformer.data.readers.archives import Folder
from clearformer.data.readers.boxes import BoxedPicture, BoxError, as_boxes, load, problems, turned, without
from clearformer.data.readers.pictures import PictureError


def marked(folder, boxes, names=None, size=None, picture="p.png"):
    return BoxedPicture(
        store=Folder(folder),
        picture=picture,
        place="notes.xml",
        boxes=as_boxes(boxes),
        names=tuple(names or ["cell"] * len(boxes)),
        size=size,
    )


@pytest.mark.parametrize(
    ("box", "what"),
    [
        ((5, 5, 5, 9), r"the box \(5, 5, 5, 9\) is empty"),
        ((9, 5, 5, 9), "is swapped"),
        ((5, 9, 9, 5), "is swapped"),
        ((-3, 0, 5, 5), "lies outside the picture, which has 20 × 10 pixels"),
        ((0, 0, 25, 5), "lies outside the picture"),
        ((0, 0, float("nan"), 5), "no number"),
        ((0, 0, float("inf"), 5), "no number"),
    ],
)
def test_a_wrong_box_is_named_by_file_and_object(tmp_path, box, what):
    one = marked(tmp_path, [(1, 1, 4, 4), box], ["disc", "cell"])
    [problem] = problems(one, 20, 10)
    assert problem.place == "notes.xml, object 2 (cell)"
    import re

    assert re.search(what, problem.what)
    assert without(one, [problem]).names == ("disc",)


def test_unknown_classes_and_copies_are_wrong_and_the_whole_picture_is_right(tmp_path):
    one = marked(tmp_path, [(0, 0, 20, 10), (0, 0, 20, 10), (1, 1, 5, 5)], ["a", "a", "b"])
    found = problems(one, 20, 10, ["a"])
    assert [(problem.index, problem.what[:12]) for problem in found] == [(1, "the same box"), (2, "the class 'b")]
    assert problems(marked(tmp_path, [(1, 1, 21, 11)]), 20, 10) == []  # some programs begin to count at one


def test_what_is_left_keeps_its_number_in_the_file(tmp_path):
    one = marked(tmp_path, [(1, 1, 1, 1), (1, 1, 4, 4), (2, 2, 2, 9)])
    once = without(one, problems(one, 20, 10))
    assert once.object(0) == "notes.xml, object 2 (cell)"


@settings(deadline=None)
@given(st.integers(1, 8), st.integers(0, 6), st.integers(0, 3), st.integers(1, 3), st.integers(1, 2))
def test_boxes_turn_as_pixels_do(orientation, left, top, wide, high):
    """A white box in a black picture, stored with each of EXIF's orientations, is found where pillow shows it."""
    from PIL import ImageOps

    pixels = np.zeros((5, 9), dtype=np.uint8)
    pixels[top : top + high, left : left + wide] = 255
    image = Image.fromarray(pixels)
    exif = image.getexif()
    exif[0x0112] = orientation
    stream = io.BytesIO()
    image.save(stream, "PNG", exif=exif)
    shown = np.asarray(ImageOps.exif_transpose(Image.open(stream)))
    rows, columns = np.nonzero(shown)
    expected = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
    [found] = turned(as_boxes([(left, top, left + wide, top + high)]), orientation, (9, 5)).tolist()
    assert found == expected


def stored_on_its_side(folder):
    image = Image.new("RGB", (9, 5))
    exif = image.getexif()
    exif[0x0112] = 6  # turn it clockwise to look at it
    image.save(folder / "p.png", exif=exif)


def test_boxes_follow_where_the_annotation_is_of_the_picture_as_stored(tmp_path):
    stored_on_its_side(tmp_path)
    pixels, one = load(marked(tmp_path, [(1, 0, 3, 2)], size=(9, 5)))
    assert pixels.shape == (9, 5, 3)
    assert one.boxes.tolist() == [[3, 1, 5, 3]]
    assert one.size == (5, 9)


@pytest.mark.parametrize("size", [(5, 9), None])
def test_boxes_stay_where_the_annotation_is_of_the_picture_as_shown(tmp_path, size):
    stored_on_its_side(tmp_path)
    _, one = load(marked(tmp_path, [(1, 0, 3, 2)], size=size))
    assert one.boxes.tolist() == [[1, 0, 3, 2]]


def test_boxes_of_another_picture_are_refused(tmp_path):
    Image.new("L", (8, 8)).save(tmp_path / "p.png")
    with pytest.raises(BoxError, match=r"notes\.xml says that .*p\.png has 9 × 5 pixels, and it has 8 × 8"):
        load(marked(tmp_path, [(1, 0, 3, 2)], size=(9, 5)))


def test_a_missing_or_broken_picture_is_refused_by_name(tmp_path):
    with pytest.raises(PictureError, match=r"notes\.xml: its picture is missing .*p\.png"):
        load(marked(tmp_path, []))
    Image.new("RGB", (64, 64), "red").save(tmp_path / "whole.jpg")
    (tmp_path / "p.png").write_bytes((tmp_path / "whole.jpg").read_bytes()[:200])
    with pytest.raises(PictureError, match=r"p\.png cannot be read as a picture"):
        load(marked(tmp_path, []))


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK", "I;16"])
def test_every_kind_of_picture_becomes_bytes(tmp_path, mode):
    ending = "tif" if mode == "CMYK" else "png"
    Image.new(mode, (7, 3)).save(tmp_path / f"p.{ending}")
    pixels, _ = load(marked(tmp_path, [(1, 1, 3, 3)], picture=f"p.{ending}"), channels=3)
    assert pixels.shape == (3, 7, 3)
    assert pixels.dtype == np.uint8


def test_fractions_become_pixels_when_the_picture_is_read(tmp_path):
    from dataclasses import replace

    Image.new("RGB", (20, 10)).save(tmp_path / "p.png")
    _, one = load(replace(marked(tmp_path, [(0.25, 0.5, 0.75, 1.0)]), fractions=True))
    assert one.boxes.tolist() == [[5, 5, 15, 10]]
