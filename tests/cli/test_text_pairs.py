"""Two texts in one: split at a tab or at |||, and refused by their number otherwise."""

import pytest

from clearformer.cli.text_pairs import as_pairs, compares_texts
from clearformer.text.unusable import UnusableTextError


def test_a_tab_and_a_mark_part_two_texts():
    assert as_pairs(["a dog\ta cat", "a|b ||| c", "x|||y"]) == [("a dog", "a cat"), ("a|b", "c"), ("x", "y")]


@pytest.mark.parametrize("text", ["one", "one|||", "\tone", "a ||| b ||| c", "a\tb\tc"])
def test_what_is_not_two_texts_is_refused(text):
    with pytest.raises(UnusableTextError, match="text 2 must be two texts"):
        as_pairs(["a\tb", text])


def test_a_folder_says_whether_it_compares():
    assert compares_texts({"columns": {"text": "1", "second": "2"}})
    assert not compares_texts({"columns": {"text": "1"}})
    assert not compares_texts({"columns": "second"})
    assert not compares_texts({})
