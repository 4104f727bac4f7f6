"""Marks of time by hand: words 0 to 4, the end 5, a mark of language 6, times from 7."""

import torch

from clearformer.inference.time_marks import TimedTokens, TimeMarks

MARKS = TimeMarks(first=7, end=5)


def allowed(written):
    logits = MARKS.restrict(torch.zeros(20).index_fill(0, torch.arange(6), 9.0), written)
    return [token for token in range(20) if logits[token] > -torch.inf]


def test_what_may_follow():
    assert allowed([]) == list(range(7, 20))
    assert allowed([8]) == [0, 1, 2, 3, 4, 5]
    assert allowed([8, 1]) == [0, 1, 2, 3, 4, 5, *range(9, 20)]
    assert allowed([8, 1, 10]) == [5, *range(10, 20)]


def test_segments_and_where_to_resume():
    assert MARKS.segments([7, 1, 2, 9, 9, 3]) == [
        TimedTokens(start=0.0, end=0.04, tokens=(1, 2)),
        TimedTokens(start=0.04, end=None, tokens=(3,)),
    ]
    assert MARKS.resume([7, 1, 9, 9, 3]) == MARKS.resume([7, 1, 9, 9]) == 0.04
    assert MARKS.resume([7, 1, 9]) is None


def test_a_mark_stands_for_its_seconds():
    assert [MARKS.seconds(token) for token in (7, 8, 57)] == [0.0, 0.02, 1.0]
