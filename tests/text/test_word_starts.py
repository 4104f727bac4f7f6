"""Where words begin among pieces: the same words whatever the vocabulary cuts them into."""

from itertools import pairwise

import numpy as np
import pytest

from clearformer.text.assemble import with_mask
from clearformer.text.train_tokenizer import train
from clearformer.text.word_starts import WordStarts

TEXTS = ["the old dogs play in snow , (well) 1984 don't", "dogs playing snowy olden days 1914", "我爱北京 天安门"] * 4


def words_of(tokenizer, text):
    """The words of a text by joining the pieces between two beginnings."""
    ids = np.array(tokenizer.ids([text], add_special=False)[0])
    bounds = [*np.flatnonzero(WordStarts(tokenizer)(ids)), len(ids)]
    pieces = [ids[start:end].tolist() for start, end in pairwise(bounds)]
    return [tokenizer.decode(piece).strip().replace(" ##", "").replace("##", "") for piece in pieces]


@pytest.mark.parametrize("kind", ["bpe", "unigram", "wordpiece", "character"])
def test_a_word_is_the_same_in_every_vocabulary(kind):
    tokenizer = with_mask(train(kind, TEXTS, 420 if kind != "wordpiece" else 200))
    assert words_of(tokenizer, "the olden dogs, (snow)") == ["the", "olden", "dogs", ",", "(", "snow", ")"]


@pytest.mark.parametrize("kind", ["bpe", "character", "wordpiece"])
def test_a_chinese_character_is_a_word(kind):
    tokenizer = train(kind, TEXTS, 500 if kind != "wordpiece" else 300, prefix_space=False)
    assert words_of(tokenizer, "京北爱我 天") == ["京", "北", "爱", "我", "天"]


def test_a_character_in_bytes_stays_together_with_its_word():
    tokenizer = train("bpe", TEXTS, 420)
    assert words_of(tokenizer, "the naïve dogs") == ["the", "naïve", "dogs"]


def test_where_words_are_the_vocabulary_every_token_is_one():
    tokenizer = train("word", TEXTS, 100, min_frequency=1)
    ids = np.array(tokenizer.ids(["dogs , play (well)"], add_special=False)[0])
    assert WordStarts(tokenizer)(ids).tolist() == [True] * 4


def test_a_marker_is_never_part_of_a_word():
    tokenizer = with_mask(train("bpe", TEXTS, 420))
    mask = tokenizer.special_id("mask")
    inner = tokenizer.ids(["dogs"], add_special=False)[0]
    found = WordStarts(tokenizer)(np.array([mask, *inner, tokenizer.eos_id, mask]))
    assert found.tolist()[0] is True
    assert found.tolist()[-2:] == [True, True]
    assert WordStarts(tokenizer)(np.array([], dtype=np.int64)).tolist() == []
