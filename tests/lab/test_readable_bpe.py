"""Byte-pair encoding by hand, and beside the library on random words."""

import tokenizers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import models, pre_tokenizers, trainers

from clearformer.lab.readable_bpe import encode_word, learn_merges, merge

SENNRICH = {"low": 5, "lower": 2, "newest": 6, "widest": 3}


def test_the_paper_s_example():
    """Figure 1 of Sennrich et al., without its end-of-word sign."""
    assert learn_merges(SENNRICH, 4) == [("e", "s"), ("es", "t"), ("l", "o"), ("lo", "w")]


def test_merging_runs_from_left_to_right():
    assert merge(["a", "a", "a"], ("a", "a")) == ["aa", "a"]


def test_a_word_is_split_in_the_order_of_learning():
    merges = learn_merges(SENNRICH, 10)
    assert encode_word("lowest", merges) == ["low", "est"]
    assert encode_word("", merges) == []


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.dictionaries(st.text("abcd", min_size=1, max_size=7), st.integers(1, 9), min_size=1, max_size=12),
    st.text("abcd", min_size=1, max_size=9),
)
def test_it_is_the_library_s(words, unseen):
    letters = {letter for word in words for letter in word}
    reference = tokenizers.Tokenizer(models.BPE())
    reference.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.BpeTrainer(vocab_size=len(letters) + 6, min_frequency=0, show_progress=False)
    reference.train_from_iterator([" ".join([word] * often) for word, often in words.items()], trainer)
    merges = learn_merges(words, 200)
    learned = len(reference.get_vocab()) - len(letters)
    pieces = [*dict.fromkeys("".join(pair) for pair in merges)][:learned]
    assert {piece for piece in reference.get_vocab() if len(piece) > 1} == set(pieces)
    if set(unseen) <= letters and learned == len(merges):
        assert encode_word(unseen, merges) == reference.encode(unseen).tokens
