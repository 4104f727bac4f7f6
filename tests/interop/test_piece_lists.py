"""A list of pieces is taken as it stands, or refused with the line at which it is wrong."""

import json

import pytest

from clearformer.interop.piece_lists import merges, numbered

PIECES = {"l": 0, "o": 1, "w": 2, "lo": 3, "low": 4}


def test_merges_come_in_their_order_without_the_heading(tmp_path):
    (tmp_path / "merges.txt").write_text("#version: 0.2\nl o\r\n\nlo w\n", encoding="utf-8")
    assert merges(tmp_path / "merges.txt", PIECES) == [("l", "o"), ("lo", "w")]


@pytest.mark.parametrize("line", ["low", "l x", "o w", "x l"])
def test_a_merge_of_what_is_no_piece_is_refused_by_its_line(tmp_path, line):
    (tmp_path / "merges.txt").write_text(f"l o\n{line}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"line 2: .* does not merge two pieces"):
        merges(tmp_path / "merges.txt", PIECES)


@pytest.mark.parametrize("number", [-1, True, "3", 1.0, 1 << 24])
def test_a_piece_has_a_whole_number(tmp_path, number):
    (tmp_path / "vocab.json").write_text(json.dumps({"a": 0, "b": number}), encoding="utf-8")
    with pytest.raises(ValueError, match="'b' must have a whole number"):
        numbered(tmp_path / "vocab.json")


def test_a_list_that_is_not_there_is_missing(tmp_path):
    with pytest.raises(ValueError, match="is missing"):
        numbered(tmp_path / "vocab.json")
