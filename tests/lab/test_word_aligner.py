"""The aligner that attention is held against."""

import pytest

from clearformer.lab.word_aligner import WordAligner, alignment_error, diagonal_links

PAIRS = [
    (["the", "house"], ["das", "Haus"]),
    (["the", "book"], ["das", "Buch"]),
    (["a", "book"], ["ein", "Buch"]),
]


def test_it_learns_which_words_belong_together():
    aligner = WordAligner(PAIRS, rounds=10)
    assert all(aligner.links(*pair) == {(0, 0), (1, 1)} for pair in PAIRS)
    assert aligner.links(["book", "the"], ["das", "Buch"]) == {(1, 0), (0, 1)}
    for row in aligner.table.values():
        assert sum(row.values()) == pytest.approx(1)


def test_the_diagonal_stays_inside():
    assert diagonal_links(["a", "b", "c"], ["x", "y", "z"]) == {(0, 0), (1, 1), (2, 2)}
    assert diagonal_links(["a", "b"], ["x", "y", "z", "w"]) == {(0, 0), (0, 1), (1, 2), (1, 3)}
    assert diagonal_links(["a", "b", "c", "d", "e"], ["x"]) == {(2, 0)}


def test_the_error_rate_by_hand():
    sure = [{(0, 0), (1, 1)}]
    assert alignment_error(sure, sure) == 0
    assert alignment_error([{(0, 1), (1, 0)}], sure) == 1
    assert alignment_error([{(0, 0), (1, 0)}], sure) == 0.5
    assert alignment_error([{(0, 0), (1, 0)}], sure, [{(1, 0)}]) == 0.25  # allowed, if not asked for
