"""What is text is exchanged, what is not is copied; files that are no UTF-8 are refused by line."""

from pathlib import Path

import pytest

from clearformer.documents.segments import (
    DocumentError,
    Fragment,
    TextDocument,
    TextSegment,
    has_words,
    merged,
    read_text,
)


def test_only_segments_change():
    text = "a <b> c"
    document = TextDocument(
        Path("x"), text, (TextSegment(0, 1, (Fragment("a"),)), TextSegment(6, 7, (Fragment("c"),))), str.upper, b"\xef"
    )
    assert document.rebuilt([[Fragment("é"), Fragment("k", "kept")], [Fragment("z")]]) == b"\xef" + "Ék <b> Z".encode()
    assert document.rebuilt([list(one.pieces) for one in document.segments]) == b"\xefA <b> C"


def test_a_segment_is_named_by_its_line():
    document = TextDocument(Path("x.md"), "a\nb\nc", (TextSegment(4, 5, (Fragment("c"),)),))
    assert document.place(document.segments[0]) == "x.md:3"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"one\ntwo \xfe", r"x.txt:2 holds byte 0xfe, .*iconv"),
        (b"\xff\xfea\0", "x.txt:1 begins like UTF-16"),
        (b"one\n\n\0", "x.txt:3 holds a null byte"),
    ],
)
def test_what_is_no_utf8_is_refused_by_line(data: bytes, reason: str):
    with pytest.raises(DocumentError, match=reason):
        read_text(Path("x.txt"), data)


def test_line_ends_and_the_mark_at_the_beginning_stay():
    assert read_text(Path("x"), b"\xef\xbb\xbfa\r\nb\rc\n") == ("a\r\nb\rc\n", b"\xef\xbb\xbf")


def test_neighbours_become_one_and_nothing_is_lost():
    pieces = [
        Fragment("a"),
        Fragment("b"),
        Fragment("<i>", "mark"),
        Fragment("<b>", "mark"),
        Fragment("x", "kept"),
        Fragment("y", "kept"),
        Fragment(""),
    ]
    assert [piece.text for piece in merged(pieces)] == ["ab", "<i><b>", "x", "y"]
    assert has_words("1. a")
    assert not has_words("12.5 → ***")
