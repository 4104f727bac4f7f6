"""A text in windows: every piece is in one of them, and the numbers say which."""

import pytest

from clearformer.inference.text_windows import cut_text
from clearformer.text.train_tokenizer import train
from clearformer.text.unusable import UnusableTextError

TEXT = "two dogs play in the snow and a man reads a book under the old tree"


@pytest.fixture(scope="module", params=["wordpiece", "bpe"])
def tokenizer(request):
    return train(request.param, [TEXT] * 4, 300)


def test_a_short_text_is_one_window(tokenizer):
    cut = cut_text(tokenizer, TEXT, 100)
    [window] = cut.windows
    assert window.ids == list(tokenizer.encode(TEXT).ids)
    assert (window.lead, window.begin, window.width) == (0, 0, len(window.ids))


def test_windows_of_a_long_text_hold_every_piece_where_they_say(tokenizer):
    cut = cut_text(tokenizer, TEXT, 10)
    assert len(cut.windows) > 1
    assert all(len(window.ids) <= 10 for window in cut.windows)
    seen = set()
    for window in cut.windows:
        numbers = range(window.begin, window.begin + window.width)
        assert window.ids[window.lead : window.lead + window.width] == [cut.pieces.ids[number] for number in numbers]
        seen |= set(numbers)
    assert seen == set(range(len(cut.pieces)))


def test_a_pair_that_is_too_long_is_refused_by_its_number(tokenizer):
    [window] = cut_text(tokenizer, ("two dogs", "the snow"), 40).windows
    assert window.ids == list(tokenizer.encode_pair("two dogs", "the snow").ids)
    with pytest.raises(UnusableTextError, match="and the model reads 5; shorten it") as refusal:
        cut_text(tokenizer, (TEXT, TEXT), 5, number=3)
    assert refusal.value.number == 3
