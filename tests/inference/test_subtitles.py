"""Subtitles by hand, in both forms."""

from clearformer.inference.subtitles import subtitle_lines
from clearformer.inference.transcript import Segment

ONE = [Segment(start=0.0, end=3661.5, text="a <b>")]


def test_both_forms_by_hand():
    assert list(subtitle_lines(ONE, "srt")) == ["1", "00:00:00,000 --> 01:01:01,500", "a <b>", ""]
    assert list(subtitle_lines(ONE, "vtt")) == ["WEBVTT", "", "00:00:00.000 --> 01:01:01.500", "a &lt;b&gt;", ""]
