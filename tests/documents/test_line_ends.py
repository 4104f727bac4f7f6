"""Wrapped lines are one text, others are not; a translation ends its lines in about the same places."""

import pytest

from clearformer.documents.line_ends import continues, lines_of, spread, units, width

WRAPPED = "This line of a paragraph was wrapped where the width"


def test_every_kind_of_line_end_ends_a_line():
    text = "a\r\nb\n\nc\rd"
    assert [(text[start:end], text[end:last]) for start, end, last in lines_of(text)] == [
        ("a", "\r\n"), ("b", "\n"), ("", "\n"), ("c", "\r"), ("d", ""),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "following", "goes_on"),
    [
        (WRAPPED, "of the page ended", True),
        (WRAPPED, "- an item of a list", False),
        (WRAPPED, "2. the second thing", False),
        (WRAPPED, "    further in", False),
        ("- an item whose words go on for a while until here", "  and on", True),
        ("Short", "lines of a poem", False),
        (WRAPPED, "", False),
        (WRAPPED, "-----", False),
        ("name      place      and a further column of it", "Tom       Boston     words", False),
    ],
)
def test_which_lines_belong_together(line: str, following: str, goes_on: bool):
    assert continues(line, following, max(width(line), 50)) is goes_on


def test_lines_end_between_words_near_the_same_share():
    words = units("one two three four five six")
    assert "".join(words) == "one two three four five six"
    assert spread(words, [0.5]) == [3]
    assert spread(words, [0.0, 0.01]) == [1, 2]  # no line stays empty
    assert spread(words, [0.99, 1.0]) == [4, 5]
    assert spread(units("one"), [0.5]) is None


def test_chinese_lines_end_between_characters_but_not_before_a_mark():
    assert units("你好，世界") == ["你", "好，", "世", "界"]
    assert spread(units("你好，世界"), [0.6]) == [2]


def test_no_line_begins_like_an_item():
    assert spread(units("one - two"), [0.3]) == [2]
    assert spread(units("in 1. May"), [0.3]) == [2]


def test_a_line_may_begin_with_a_stressed_word_but_not_with_the_mark_of_an_item():
    assert spread(["it says: ", "*", "later", "* ", "than"], [9 / 21]) == [1]
    assert spread(["it says: ", "* ", "later ", "than"], [9 / 21]) == [2]
