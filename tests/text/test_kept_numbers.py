"""Numbers are looked for in a translation: in digits, however they are grouped, or in words if they are small."""

import pytest

from clearformer.text.kept_numbers import numbers_kept, numbers_lost


@pytest.mark.parametrize(
    ("source", "translation", "right"),
    [
        ("1,000 dogs", "1.000 Hunde", True),
        ("3.5 and 7", "3,5 und sieben", True),
        ("3 dogs", "drei Hunde", True),
        ("3 dogs", "4 Hunde", False),
        ("3 dogs and 3 cats", "3 Hunde und Katzen", False),
        ("in 1995", "im Jahr 95", False),
        ("12 只狗", "twelve dogs", True),
        ("３ dogs", "3 Hunde", True),
        ("10 dogs", "二十只狗", False),
        ("no number", "keine 5", True),
    ],
)
def test_numbers_are_kept_in_digits_or_words(source: str, translation: str, right: bool):
    assert numbers_kept(source, translation) is right


def test_what_was_lost_is_named():
    assert numbers_lost("1,250 of 40 in 1995", "1.250 im Jahr 1995") == ["40"]
