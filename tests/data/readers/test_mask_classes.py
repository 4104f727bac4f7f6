"""What numbers mean: classes.txt in its forms, and things told from classes."""

import numpy as np
import pytest

from clearformer.data.readers.mask_classes import guess_kind, numbers_of, read_classes
from clearformer.data.readers.pictures import PictureError
from support.discs import discs


def test_a_line_is_a_class_perhaps_with_its_number_or_colour(tmp_path):
    path = tmp_path / "classes.txt"
    path.write_text("background #000000\nred cell #ff0000\n\nwhite cell #0000FF\n", encoding="utf-8")
    found = read_classes(path)
    assert found.names == {0: "background", 1: "red cell", 2: "white cell"}
    assert found.colours == {(0, 0, 0): 0, (255, 0, 0): 1, (0, 0, 255): 2}
    path.write_text("\ufeff天空 7\n路 9\n", encoding="utf-8")
    assert read_classes(path).names == {7: "天空", 9: "路"}
    path.write_text("sky\nroad\n", encoding="utf-8")
    assert read_classes(path).names == {0: "sky", 1: "road"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "has no classes"),
        (b"\xff\xfe\x00", "is not UTF-8"),
        (b"a\na\n", "classes.txt:2 names a"),
        (b"a 1\nb 1\n", ":2"),
    ],
)
def test_what_cannot_be_is_refused_with_its_line(tmp_path, content, said):
    (tmp_path / "classes.txt").write_bytes(content)
    with pytest.raises(PictureError, match=said):
        read_classes(tmp_path / "classes.txt")


def test_things_are_told_from_classes():
    things = [discs(seed, height=60, width=60, count=3 + seed)[1] for seed in range(4)]
    assert guess_kind(things).kind == "instances"
    classes = [(mask > 0).astype(np.uint16) for mask in things]
    assert guess_kind(classes).kind == "classes"
    trimaps = [np.tile(np.array([1, 2, 3, 2, 1], dtype=np.uint16), (5, 1)) for _ in range(3)]
    assert guess_kind(trimaps).kind == "classes"
    many = [np.arange(300, dtype=np.uint16).reshape(15, 20)]
    assert guess_kind(many).kind == "instances"
    assert guess_kind([np.zeros((4, 4), dtype=np.uint16)]).kind == "classes"
    assert numbers_of(trimaps) == (1, 2, 3)
