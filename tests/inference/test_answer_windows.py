"""Windows over a context: together they have every piece, alone they fit, and offsets are those of the whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.inference.answer_windows import LEAST_ROOM, cut_windows
from clearformer.text.train_tokenizer import train

WORDS = ("snow", "dogs", "play", "ice", "北京", "naïve", "x")
KINDS = ("wordpiece", "character", "bpe")
TOKENIZERS = {kind: train(kind, [" ".join(WORDS)] * 3, 400) for kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
@given(st.lists(st.sampled_from(WORDS), max_size=60), st.integers(20, 40))
def test_every_piece_is_in_a_window_and_every_short_passage_whole_in_one(kind, words, longest):
    tokenizer, context = TOKENIZERS[kind], "  ".join(words)
    cut = cut_windows(tokenizer, "ice", context, longest)
    whole = tokenizer.encode_pair("ice", context)
    pieces = [number for number, second in zip(whole.ids, whole.second, strict=True) if second]
    room = longest - (len(whole.ids) - len(pieces))
    for window in cut.windows:
        assert len(window.ids) == len(window.types) <= longest
        inner = window.ids[window.lead : window.lead + window.width]
        assert list(inner) == pieces[window.begin : window.begin + window.width]
    for start in range(len(pieces) - room // 2 + 1):
        end = min(start + room // 2, len(pieces))
        assert any(window.begin <= start and end <= window.begin + window.width for window in cut.windows)


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=20), st.data())
def test_the_pieces_of_a_passage_cover_it(words, data):
    context = " ".join(words)
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, len(words) - 1))
    start = len(" ".join(words[:first])) + (first > 0)
    passage = " ".join(words[first : last + 1])
    cut = cut_windows(TOKENIZERS["wordpiece"], "ice", context, 400)
    begin, end = cut.pieces(start, start + len(passage))
    assert context[cut.places[begin][0] : cut.places[end][1]] == passage


def test_a_passage_outside_has_no_pieces():
    assert cut_windows(TOKENIZERS["wordpiece"], "ice", "snow  ", 30).pieces(4, 6) is None


def test_a_question_that_leaves_no_room_is_refused():
    with pytest.raises(ValueError, match="leaves no room"):
        cut_windows(TOKENIZERS["wordpiece"], "ice " * 20, "snow " * 20, 20 + LEAST_ROOM)
