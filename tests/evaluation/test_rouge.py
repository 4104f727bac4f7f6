"""ROUGE by hand, by the examples of Lin (2004), and by what a score must and must not depend on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.evaluation.rouge import (
    NAMES,
    common_length,
    quick_rouge,
    rouge_words,
    score_summaries,
    score_summary,
)

TEXTS = st.text(alphabet="ab c", max_size=12)


def test_lins_example():
    """Section 3.1, police killed the gunman: both share as many words, and only the order tells them apart."""
    reference = "police killed the gunman"
    kept, turned = "police kill the gunman", "the gunman kill police"
    # "kill" and "killed" have one stem, so the first is all right; of the second "the gunman" is in order.
    assert score_summary(kept, [reference]) == (1.0, 1.0, 1.0)
    assert score_summary(turned, [reference]) == pytest.approx((1.0, 1 / 3, 0.5))


def test_words_in_order_need_not_be_neighbours():
    assert common_length("abcbdab", "bdcaba") == 4
    assert common_length("", "abc") == 0
    assert score_summary("new seat list", ["seat assignments list"]) == pytest.approx((2 / 3, 0.0, 2 / 3))


def test_a_word_counts_as_often_as_both_have_it():
    """Saying it again and again is not rewarded (clipping)."""
    assert score_summary("meeting meeting meeting meeting", ["meeting"])[0] == pytest.approx(2 / 5)


def test_case_signs_and_endings_do_not_count():
    assert rouge_words("Re: SCHEDULED meetings_2, e-mail!") == ["re", "schedul", "meet", "2", "e", "mail"]


def test_chinese_is_counted_by_characters():
    assert rouge_words("会议AB改期") == ["会", "议", "ab", "改", "期"]
    assert score_summary("会议取消", ["会议改期"])[0] == 0.5
    assert "characters" in score_summaries(["会议"], [["会议改期"]])["signature"]


def test_of_several_given_summaries_the_nearest_counts():
    assert score_summary("seat list", ["something else", "seat list"]) == (1.0, 1.0, 1.0)


@given(TEXTS, TEXTS)
def test_a_score_is_symmetric_and_a_share_of_one(one, other):
    there, back = score_summary(one, [other]), score_summary(other, [one])
    assert there == back
    assert all(0 <= share <= 1 for share in there)
    assert there[2] <= there[0]  # words in order are words


@given(TEXTS)
def test_only_a_text_without_words_is_not_itself(text):
    size = len(rouge_words(text))
    assert score_summary(text, [text]) == (float(size > 0), float(size > 1), float(size > 0))


def test_the_interval_encloses_the_mean_and_narrows_with_more_examples():
    found, wanted = ["a b", "c d"], [["a b"], ["x y"]]
    few, many = score_summaries(found, wanted), score_summaries(found * 100, wanted * 100)
    for name in NAMES:
        assert few[f"{name}_low"] <= few[name] <= few[f"{name}_high"]
        assert few[name] == many[name] == quick_rouge(found, wanted)[name] == 50.0
    assert many["rouge_l_high"] - many["rouge_l_low"] < few["rouge_l_high"] - few["rouge_l_low"]


@pytest.mark.parametrize(("found", "wanted"), [([], []), (["a"], []), (["a"], [[]])])
def test_what_cannot_be_compared_is_refused(found, wanted):
    with pytest.raises(ValueError, match="cannot be compared"):
        score_summaries(found, wanted)


def test_it_is_what_the_rouge_score_package_counts():
    """The numbers beside each pair are what version 0.1.2 of the package gives with `use_stemmer`."""
    pairs = {
        ("BCP seat assignments", "your seat assignments for business continuity planning (bcp)."): (
            6 / 11,
            2 / 9,
            4 / 11,
        ),
        ("Meetings rescheduled to Friday", "meeting on friday rescheduled"): (0.75, 0.0, 0.5),
        ("FW: the 10:00 call", "conference call at 10:00"): (0.6, 0.25, 0.4),
    }
    for (found, wanted), numbers in pairs.items():
        assert score_summary(found, [wanted]) == pytest.approx(numbers), (found, wanted)
