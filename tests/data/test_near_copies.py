"""Near copies: most runs of five words in one known text, whatever the case and the signs."""

import random

from clearformer.data.near_copies import near_copies, runs

WORDS = [f"word{number}" for number in range(400)]


def text(seed, size=60):
    return " ".join(random.Random(seed).choices(WORDS, k=size))


def test_a_text_with_a_few_words_changed_is_near_and_another_is_not():
    known = [text(seed) for seed in range(5)]
    changed = known[2].upper().replace(" ", ",  ").split(",")
    changed[30] = "other"
    assert near_copies([" ".join(changed), text(99), known[0]], known) == [True, False, True]


def test_the_share_is_of_one_text_and_of_all_its_runs():
    """Half of one text and half of another is a copy of neither; a share that is asked for counts exactly."""
    one, other = text(1), text(2)
    half = " ".join([*one.split()[:30], *other.split()[30:]])
    assert near_copies([half], [one, other]) == [False]
    assert near_copies([half], [one, other], share=0.4) == [True]


def test_short_texts_are_compared_as_they_are():
    assert near_copies(["See you!", "see me", ""], ["see you", "nothing"]) == [True, False, False]


def test_chinese_has_runs_of_characters():
    assert len(runs("会议改到周五下午")) == 4
    assert near_copies(["会议改到周五下午三点开始吧"], ["会议改到周五下午三点开始"]) == [True]
