"""Words of running text: marks stand alone, names keep their sign, and every character is accounted for."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.text.word_spans import word_spans


def words(text, **options):
    return [text[start:end] for start, end in word_spans(text, **options)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("I live in London.", ["I", "live", "in", "London", "."]),
        ("(Ada, 36)", ["(", "Ada", ",", "36", ")"]),
        ("London's e-mail, at 3.5", ["London", "'s", "e-mail", ",", "at", "3.5"]),
        ("@ada saw #snow ... !?", ["@ada", "saw", "#snow", "...", "!", "?"]),
        ("吴重阳在IBM工作。", ["吴", "重", "阳", "在", "IBM", "工", "作", "。"]),
        ("", []),
        (" \n\t", []),
    ],
)
def test_words_as_people_split_them(text, wanted):
    assert words(text) == wanted


def test_characters_where_a_model_was_trained_so():
    assert words("在 IBM", characters=True) == ["在", "I", "B", "M"]


@given(st.text(), st.booleans())
def test_nothing_but_space_is_left_out(text, characters):
    spans = word_spans(text, characters=characters)
    assert "".join(text[start:end] for start, end in spans) == "".join(text.split())
    assert all(a < b <= c < d for (a, b), (c, d) in itertools.pairwise(spans))
