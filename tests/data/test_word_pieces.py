"""Words as pieces: every word has a first piece, with any kind of vocabulary."""

import pytest

from clearformer.data.word_pieces import SEGMENTS, SHAPE_TYPES, markers, text_pieces, type_of, word_pieces
from clearformer.text.train_tokenizer import TokenizerConfig, train_from
from clearformer.text.word_spans import word_spans

TEXT = "Ada Lovelace wrote to Charles Babbage in London"


@pytest.fixture(params=["wordpiece", "bpe", "character", "byte"])
def tokenizer(request):
    return train_from(TokenizerConfig(kind=request.param, vocab_size=400, min_frequency=1), [TEXT] * 5)


def test_the_first_piece_of_each_word_is_known(tokenizer):
    words = [*TEXT.split(), "zyxw", "\u200b", "\x07"]
    ids, first, types = word_pieces(tokenizer, words)
    assert types == [0] * len(ids)
    assert len(first) == len(words)
    assert first == sorted(set(first))
    for word, start, end in zip(words, first, [*first[1:], len(ids)], strict=True):
        assert ids[start:end] == (tokenizer.ids([word], add_special=False)[0] or ids[start:end])
        assert end > start


def test_every_piece_tells_its_word_s_shape_if_asked(tokenizer):
    words = ["lovelace", "Lovelace", "LOVELACE", "1,815"]
    ids, first, types = word_pieces(tokenizer, words, shapes=True)
    assert [len(set(types[a:b])) for a, b in zip(first, [*first[1:], len(ids)], strict=True)] == [1] * len(words)
    assert [types[place] for place in first] == [type_of(word) for word in words]
    assert types[0] == 0
    assert min(types[first[1] :]) >= SEGMENTS
    assert max(types) < SHAPE_TYPES


def test_no_words_have_no_pieces(tokenizer):
    assert word_pieces(tokenizer, []) == ([], [], [])


def test_markers_are_what_stands_around(tokenizer):
    before, after = markers(tokenizer)
    [inner] = tokenizer.ids([TEXT], add_special=False)
    assert [*before, *inner, *after] == list(tokenizer.encode(TEXT).ids)


def test_words_of_a_text_are_found_by_their_places(tokenizer):
    spans = word_spans(TEXT)
    kept, pieces = text_pieces(tokenizer, TEXT, spans)
    assert kept == spans
    encoded = tokenizer.encode(TEXT, add_special=False)
    for (start, end), place in zip(spans, pieces.first, strict=True):
        a, b = encoded.offsets[place]
        assert max(a, start) < min(b, end)  # they overlap, and no earlier piece does
        assert place == 0 or encoded.offsets[place - 1][1] <= start
