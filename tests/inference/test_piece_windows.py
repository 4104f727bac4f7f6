"""Windows of a long text: nothing is left out, nothing is longer than the model reads, and short texts stay whole."""

from itertools import pairwise

import pytest

from clearformer.inference import piece_windows as module
from clearformer.inference.piece_windows import all_pieces, piece_windows
from clearformer.text.train_tokenizer import train

LINES = ["two dogs play in the snow", "a man reads a book"] * 5


@pytest.fixture(scope="module")
def tokenizer():
    return train("wordpiece", LINES, 120)


@pytest.mark.parametrize("count", [1, 5, 6, 7, 8, 9, 12, 13, 100, 101])
@pytest.mark.parametrize("longest", [3, 4, 8, 9])
def test_every_piece_is_in_a_window_in_order_and_windows_overlap(tokenizer, count, longest):
    pieces = list(range(1000, 1000 + count))
    [whole] = piece_windows(tokenizer, [7], 10)
    first, last = whole[0], whole[-1]  # [CLS] and [SEP]
    windows = piece_windows(tokenizer, pieces, longest)
    assert all(len(one) <= longest and one[0] == first and one[-1] == last for one in windows)
    inner = [one[1:-1] for one in windows]
    assert sorted({piece for one in inner for piece in one}) == pieces
    assert all(one == list(range(one[0], one[0] + len(one))) for one in inner)
    assert len(windows) == 1 or all(b[0] <= a[-1] + 1 for a, b in pairwise(inner))
    assert (len(windows) == 1) == (count <= longest - 2)
    assert all(len(one) == longest for one in windows[:-1])


def test_a_text_beyond_the_tokenizer_s_limit_has_the_pieces_of_its_words(tokenizer, monkeypatch):
    text = "two dogs play in the snow " * 20
    whole = all_pieces(tokenizer, text)
    monkeypatch.setattr(module, "MAX_CHARACTERS", 37)
    assert all_pieces(tokenizer, text) == whole
    assert all_pieces(tokenizer, "x" * 100) == all_pieces(tokenizer, "x" * 37) * 2 + all_pieces(tokenizer, "x" * 26)
