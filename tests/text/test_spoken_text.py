"""What nobody can hear does not count: two ways to write the same speech become one, and different speech stays so."""

import pytest

from clearformer.text.spoken_text import english_words, is_english, plain_words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I'm twenty-one, um, OK?", "I am 21 ok"),
        ("It\u2019s $5,000.", "it is 5000 dollars"),
        ("Mr. Smith won't go", "mister smith will not go"),
        ("The colour of the theatre (laughs)", "the color of the theater"),
        ("They realised it in nineteen forty-five.", "they realized it in 1945"),
        ("fourteen fifty-five, or fourteen sixty-two", "1455 or 1462"),
        ("at twelve thirty", "at 12:30"),
        ("50%", "fifty percent"),
        ("don't", "do not"),
        ("café", "cafe"),
        ("3, 7, 1, 9, 4.", "three seven one nine four"),
        ("Travelling & cancelled", "traveling and canceled"),
    ],
)
def test_two_ways_of_writing_the_same(one, other):
    assert english_words(one) == english_words(other)


@pytest.mark.parametrize(
    ("one", "other"), [("can", "can't"), ("it is 20", "it is 21"), ("four", "for"), ("hour", "hor")]
)
def test_different_speech_stays_different(one, other):
    assert english_words(one) != english_words(other)


def test_plain_words_change_no_word():
    assert plain_words("Grüße, [Musik] aus  KÖLN!") == "gruße aus koln"
    assert plain_words("It's twenty-one") == "it's twenty one"
    assert plain_words("你好，世界！") == "你好 世界"
    assert plain_words("...") == ""


def test_doing_it_twice_changes_nothing():
    for text in ("I'm 21% sure, Mr. Smith; it's $3.50 (no kidding)", "The two thousand and first, honour", "Ärger?"):
        assert english_words(english_words(text)) == english_words(text)
        assert plain_words(plain_words(text)) == plain_words(text)


def test_english_is_told_from_other_languages():
    assert is_english(["printing in the only sense with which we are at present concerned"])
    assert not is_english(["Die Sonne schien auf den kleinen Garten hinter unserem Haus"])
    assert not is_english(["3 7 1", "9 4"])
    assert not is_english(["今天天气很好"])
