"""Numbers as they are said become numbers as they are written."""

import pytest

from clearformer.text.spoken_numbers import as_figures


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("zero", "0"),
        ("twenty one", "21"),
        ("one two three", "1 2 3"),
        ("zero one zero", "0 1 0"),
        ("three hundred and seven people", "307 people"),
        ("one thousand two hundred and thirty four", "1234"),
        ("two thousand and one", "2001"),
        ("nineteen forty five", "1945"),
        ("twenty twenty", "2020"),
        ("nineteen hundred", "1900"),
        ("five million and ten", "5000010"),
        ("a hundred dogs and two cats", "a hundred dogs and 2 cats"),
        ("the twenty third", "the 23rd"),
        ("the twelfth and the third", "the 12th and the 3rd"),
        ("the one hundred and first", "the 100 and first"),
        ("first and second", "first and second"),
        ("four and five", "4 and 5"),
        ("ten eleven twelve", "10 11 12"),
        ("no numbers here", "no numbers here"),
        ("", ""),
    ],
)
def test_figures(said, written):
    assert " ".join(as_figures(said.split())) == written


def test_every_number_below_ten_thousand_comes_back():
    ones = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
    ones += ["thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
    tens = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]

    def small(number):
        if number < 20:
            return [ones[number]]
        return [tens[number // 10 - 2], *([ones[number % 10]] if number % 10 else [])]

    def said(number):
        if number < 100:
            return small(number)
        if number < 1000:
            rest = number % 100
            return [*small(number // 100), "hundred", *(["and", *small(rest)] if rest else [])]
        rest = number % 1000
        joint = ["and"] if 0 < rest < 100 else []
        return [*small(number // 1000), "thousand", *([*joint, *said(rest)] if rest else [])]

    wrong = [number for number in range(10_000) if as_figures(said(number)) != [str(number)]]
    assert wrong == []
