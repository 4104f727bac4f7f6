"""Counts that are checked before they are believed."""

import pytest

from clearformer.interop.binary import BinaryReader


def reader(tmp_path, content: bytes) -> BinaryReader:
    (tmp_path / "f.bin").write_bytes(content)
    return BinaryReader(tmp_path / "f.bin")


def test_numbers_and_bytes_come_in_order(tmp_path):
    with reader(tmp_path, b"\x01\x02\x00\x03\x00\x00\x00abcdef") as file:
        assert [file.number(code, "x") for code in "BHI"] == [1, 2, 3]
        assert file.left == 6
        assert file.skip(2, "x") == 7
        assert file.raw(3, "x") == b"cde"
        assert file.place == 12


def test_the_end_is_named_by_what_was_expected(tmp_path):
    with (
        reader(tmp_path, b"\x01\x02") as file,
        pytest.raises(ValueError, match=r"f\.bin ends in the middle of its age"),
    ):
        file.number("I", "its age")
    with reader(tmp_path, b"") as file, pytest.raises(ValueError, match="ends in the middle of nothing"):
        file.skip(1, "nothing")


def test_a_count_that_the_file_has_no_room_for_is_a_lie(tmp_path):
    with (
        reader(tmp_path, b"\xff\xff\xff\xff" + b"x" * 100) as file,
        pytest.raises(ValueError, match=r"says that it holds 4,294,967,295 arrays, more than it has room for"),
    ):
        file.count("I", "arrays", each=9)
    with reader(tmp_path, b"\x0a" + b"x" * 100) as file:
        assert file.count("B", "arrays", each=10) == 10
