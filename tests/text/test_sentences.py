"""Sentences, passages and windows cover the text, in order, and none is too long."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.text.sentences import LONGEST, ends_a_sentence, passages, sentences, size, whole_sentences, windows

TEXTS = st.text(st.sampled_from("ab .!?。雪\n#-\t’"), max_size=200)


def shown(text, spans):
    return [text[start:end] for start, end in spans]


def test_sentences_of_two_languages():
    text = 'It snows. "Really?" Yes, 3.5 cm!\n\n今天下雪了。狗在雪里玩！\n- an item\n- another'
    assert shown(text, sentences(text)) == [
        "It snows.", '"Really?"', "Yes, 3.5 cm!", "今天下雪了。", "狗在雪里玩！", "- an item", "- another"
    ]  # fmt: skip


def test_passages_are_whole_paragraphs_that_fit_and_a_heading_begins_one():
    text = "# One\n\nA first.\nStill first.\n\nA second.\n\n# Two\n\nA third. A fourth."
    assert shown(text, passages(text)) == [
        "# One\n\nA first.\nStill first.\n\nA second.",
        "# Two\n\nA third. A fourth.",
    ]
    assert shown(text, passages(text, longest=12)) == [
        "# One", "A first.", "Still first.", "A second.", "# Two", "A third.", "A fourth."
    ]  # fmt: skip


def test_windows_are_sentences_and_passages_each_once():
    one, two = (
        "The first sentence says what has to be said of the dogs.",
        "The second one goes on with snow and with cats.",
    )
    text = f"{one} {two} Yes."
    assert shown(text, windows(text)) == [one, f"{two} Yes.", text]
    assert shown(one, windows(one)) == [one]


def test_short_sentences_are_read_together():
    text = "Yes. No. Perhaps. But this sentence is long enough for two others. Or not."
    assert shown(text, windows(text)) == [text]
    assert shown(text, windows(text, longest=20)) == [
        "Yes. No. Perhaps.", "But this sentence is", "long enough for two", "others. Or not."
    ]  # fmt: skip


@pytest.mark.parametrize("cut", [sentences, passages, windows])
@given(text=TEXTS, longest=st.integers(4, 40))
def test_nothing_is_lost_and_nothing_is_too_long(cut, text, longest):
    spans = cut(text, longest)
    covered = {place for start, end in spans for place in range(start, end)}
    assert {place for place, letter in enumerate(text) if not letter.isspace()} <= covered
    assert spans == sorted(spans) or cut is windows
    for start, end in spans:
        assert 0 < size(text[start:end]) <= longest
        assert text[start:end] == text[start:end].strip()


def test_a_line_without_an_end_is_cut_in_linear_time():
    text = "雪" * 100_000
    assert len(sentences(text)) < 2 * 4 * len(text) / LONGEST
    assert shown("word " * 30_000, sentences("word " * 30_000))[0].endswith("word")


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("One. Two. Thr", "One. Two."),
        ("One. It costs 3.", "One."),  # 3.5 may have been meant
        ("He said “yes!” and then", "He said “yes!”"),
        ("第一句。第二句！第三", "第一句。第二句！"),
        ("no end at all", ""),
        ("", ""),
    ],
)
def test_what_was_broken_off_ends_with_its_last_sure_sentence(text, whole):
    assert whole_sentences(text) == whole


def test_the_last_sign_says_whether_a_sentence_ends():
    assert all(map(ends_a_sentence, ("Done.", "Really?", "“Yes!”", "好。", "well…")))
    assert not any(map(ends_a_sentence, ("Done", "3.5 kg", "", "a, b")))
