"""One function decides what is fit for training; its borders are tested from both sides."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.text.doctor.findings import Kind
from clearformer.text.doctor.pair_checks import PairLimits, Reason, classify_line, classify_pair, is_blank

LIMITS = PairLimits(max_chars=100, max_ratio=3.0, ratio_from=12, copy_from_chars=8)


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        ("Two dogs.", "Zwei Hunde.", None),
        ("", "", Reason.BLANK),
        (" ", "\u3000\u200b", Reason.BLANK),
        ("", "Hund", Reason.BLANK_SOURCE),
        ("dog", "\t", Reason.BLANK_TARGET),
        ("a" * 100, "b" * 100, None),
        ("a" * 101, "b" * 100, Reason.TOO_LONG),
        ("a" * 100, "b" * 101, Reason.TOO_LONG),
        ("a" * 4, "b" * 12, None),  # exactly 3 : 1
        ("a" * 4, "b" * 13, Reason.LENGTH_RATIO),
        ("b" * 13, "a" * 4, Reason.LENGTH_RATIO),
        ("a", "b" * 11, None),  # too short to judge
        ("机器学习", "machine learning", None),  # four characters, but twelve bytes
        ("Taxi 42", "Taxi 42", None),
        ("Taxi 142", "Taxi 142", Reason.COPY),
        ("Taxi 142 ", " Taxi 142", Reason.COPY),
        ("a tab\tis text", "ein Tab\tist Text", None),
        ("a\x00b", "ab", Reason.NUL),
        ("ab", "a\x00b", Reason.NUL),
        ("a\x1fb", "ab", Reason.CONTROL_CHARACTER),
        ("ab", "a\x9fb", Reason.CONTROL_CHARACTER),
        ("one\u2028line", "eine\x0cZeile", None),  # separators are a warning, not a reason
    ],
)
def test_borders(source, target, reason):
    assert classify_pair(source, target, LIMITS) is reason


def test_a_single_line_is_a_pair_without_a_target():
    assert classify_pair("text", None, LIMITS) is None
    assert classify_pair("", None, LIMITS) is Reason.BLANK
    assert classify_pair("a\x00", None, LIMITS) is Reason.NUL


@given(source=st.text(), target=st.text())
def test_swapping_the_sides_swaps_the_blame_and_nothing_else(source, target):
    mirrored = {Reason.BLANK_SOURCE: Reason.BLANK_TARGET, Reason.BLANK_TARGET: Reason.BLANK_SOURCE}
    here, there = classify_pair(source, target, LIMITS), classify_pair(target, source, LIMITS)
    if Reason.NUL not in (here, there):  # with two unfit lines the source is named first
        assert there is mirrored.get(here, here) or {here, there} <= {Reason.TOO_LONG, Reason.CONTROL_CHARACTER}


@given(line=st.text())
def test_a_line_is_judged_the_same_alone_and_in_a_pair(line):
    alone = classify_line(line, LIMITS)
    if alone is not None:
        assert classify_pair(line, "anything", LIMITS) is alone
        assert classify_pair("anything", line, LIMITS) is alone


def test_every_reason_is_a_kind_of_finding():
    assert {Kind(reason).value for reason in Reason} == {reason.value for reason in Reason}


def test_blank_is_what_nobody_sees():
    assert is_blank("")
    assert is_blank(" \t\u00a0\u2003")
    assert is_blank("\ufeff \u200b")
    assert not is_blank(" . ")


@pytest.mark.parametrize(
    "wrong", [{"max_chars": 0}, {"max_chars": 10**9}, {"max_ratio": 0.5}, {"max_ratio": float("nan")}]
)
def test_impossible_limits_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        PairLimits(**wrong)
