import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.text.word_shapes import SHAPES, shape_of


@pytest.mark.parametrize(
    ("word", "shape"),
    [
        ("dog", "plain"),
        ("北京", "plain"),
        ("ß", "plain"),
        ("Berlin", "capitalised"),
        ("O'brien", "capitalised"),
        ("I", "capitalised"),
        ("Ǆ", "capitalised"),
        ("NATO", "capitals"),
        ("U.S.", "capitals"),
        ("iPhone", "mixed"),
        ("McDonald", "mixed"),
        ("1,984", "number"),
        ("٣", "number"),
        ("B2B", "with digits"),
        ("@name", "mention"),
        ("@", "signs"),
        ("#topic", "hashtag"),
        ("HTTP://t.co/x", "address"),
        (":-)", "signs"),
        ("😀", "signs"),
        ("", "signs"),
    ],
)
def test_shapes(word, shape):
    assert SHAPES[shape_of(word)] == shape


@given(st.text())
def test_every_word_has_one(word):
    assert 0 <= shape_of(word) < len(SHAPES)


@given(st.text(alphabet="abcxyz", min_size=1))
def test_what_an_uncased_vocabulary_forgets_is_told_apart(word):
    assert len({shape_of(word), shape_of(word.capitalize())}) == 2
