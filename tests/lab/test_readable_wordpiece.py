"""WordPiece by hand, and its longest match beside the library."""

import tokenizers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import models

from clearformer.lab.readable_wordpiece import join, join_everywhere, learn_joins, letters_of, split_word


def test_letters_and_joins():
    assert letters_of("play") == ["p", "##l", "##a", "##y"]
    assert join("pl", "##ay") == "play"
    assert join("##l", "##a") == "##la"
    assert join_everywhere(["a", "##a", "##a"], ("##a", "##a")) == ["a", "##aa"]


def test_the_likeliest_pair_is_not_the_most_frequent_one():
    """ "##u ##g" occurs most often, but "##g ##s" is the pair whose parts occur least without each other."""
    words = {"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}
    assert learn_joins(words, 1) == [("##g", "##s")]
    assert learn_joins({"a": 3}, 5) == []


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sets(st.text("abc", min_size=1, max_size=4), max_size=12), st.text("abcd", min_size=1, max_size=12))
def test_the_longest_match_is_the_library_s(pieces, word):
    vocabulary = {"[UNK]": 0}
    for piece in [*"abc", *sorted(pieces), *("##" + one for one in [*"ab", *sorted(pieces)])]:
        vocabulary.setdefault(piece, len(vocabulary))
    reference = tokenizers.Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    assert split_word(word, vocabulary) == reference.encode(word).tokens
