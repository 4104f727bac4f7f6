"""Rows of text: every token once in order, markers where the vocabulary puts them, cuts that reach everything."""

import numpy as np
import pytest

from clearformer.data.text_rows import JoinedRows, RowFrame, cut, in_parts
from clearformer.text.train_tokenizer import train

TEXTS = [[5, 6, 7], [], [8], [9, 10, 11, 12, 13, 14]]


def frame(joined, length=6):
    return RowFrame(before=(1,), after=(2,), length=length, joined=joined)


def test_joined_texts_follow_one_another_each_with_its_end():
    assert [row.tolist() for row in frame(True).texts(TEXTS)] == [[5, 6, 7, 2, 8, 2, 9, 10, 11, 12, 13, 14, 2]]
    rows = [frame(True).marked(row).tolist() for row in frame(True).rows(TEXTS)]
    assert rows == [[1, 5, 6, 7, 2, 8], [1, 2, 9, 10, 11, 12], [1, 13, 14, 2]]


def test_single_texts_have_a_row_each_and_long_ones_several():
    rows = [frame(False).marked(row).tolist() for row in frame(False).rows(TEXTS)]
    assert rows == [[1, 5, 6, 7, 2], [1, 8, 2], [1, 9, 10, 11, 12, 2], [1, 13, 14, 2]]


@pytest.mark.parametrize("joined", [True, False])
def test_no_row_is_longer_than_the_frame(joined):
    assert max(len(frame(joined).marked(row)) for row in frame(joined).rows(TEXTS)) == 6
    assert frame(joined).room == (5 if joined else 4)


def test_a_single_line_is_framed_as_a_text_is_in_use():
    tokenizer = train("character", ["two dogs"] * 3, 400)
    for joined in (True, False):
        made = RowFrame.of(tokenizer, length=20, joined=joined)
        [row] = made.rows(tokenizer.ids(["two dogs"], add_special=False))
        assert made.marked(row).tolist() == tokenizer.ids(["two dogs"])[0]


@pytest.mark.parametrize("tokens", [1, 5, 8, 9, 16, 17, 50])
def test_cuts_reach_every_token(tokens):
    rows = JoinedRows(np.arange(tokens), 8)
    chances = np.random.default_rng(1).random(300)
    cuts = [cut(rows[index], chance, 8).tolist() for index in range(len(rows)) for chance in chances]
    assert {token for row in cuts for token in row} == set(range(tokens))
    assert {len(row) for row in cuts} == {min(8, tokens)}
    assert all(row == list(range(row[0], row[0] + len(row))) for row in cuts)


def test_parts_put_together_are_the_whole():
    assert [part.tolist() for part in in_parts(np.arange(5), 2)] == [[0, 1], [2, 3], [4]]
    assert list(in_parts(np.arange(0), 2)) == []
