"""Words from tokens: each with the time of its first and last token, however the vocabulary spells spaces."""

from itertools import pairwise

import pytest

from clearformer.inference.written_piece import words_of
from clearformer.text.train_tokenizer import train

TEXTS = ["two dogs play in the snow", "the cat sleeps and a bird sings"] * 5


@pytest.mark.parametrize("kind", ["word", "character", "bpe", "unigram", "byte"])
def test_every_vocabulary_gives_the_same_words_in_order(kind):
    tokenizer = train(kind, TEXTS, 400, min_frequency=1)
    text = "two cat sings" if kind == "word" else "two birds sing"  # whole words must be known
    [ids] = tokenizer.ids([text], add_special=False)
    starts = [float(place) for place in range(len(ids))]
    ends = [place + 1.0 for place in starts]
    words = words_of(tokenizer, ids, starts, ends)
    assert [word.text for word in words] == [
        "two",
        "birds" if kind != "word" else "cat",
        "sing" if kind != "word" else "sings",
    ]
    assert words[0].start == 0
    assert words[-1].end == len(ids)
    for one, other in pairwise(words):
        assert one.start < one.end <= other.start + 1  # a space may be a token between them


def test_one_token_and_none():
    tokenizer = train("word", TEXTS, 60, min_frequency=1)
    [ids] = tokenizer.ids(["snow"], add_special=False)
    [only] = words_of(tokenizer, ids, [0.5], [0.75])
    assert (only.text, only.start, only.end) == ("snow", 0.5, 0.75)
    assert words_of(tokenizer, [], [], []) == ()
