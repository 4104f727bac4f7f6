"""Subtitles keep numbers, times, formatting and the lines of each cue; what is no SRT is refused by line."""

from pathlib import Path

import pytest

from clearformer.documents.segments import DocumentError
from clearformer.documents.subtitle_cues import open_subtitles
from support.document_structure import structure
from support.documents import shouting, shown, spoiling, translated, written

CUES = """1\r
00:00:01,000 --> 00:00:02,500\r
This goes over\r
two lines.\r
\r
2\r
00:00:03,000 --> 00:00:04,000 X1:10 X2:20\r
- Hello!\r
- <i>Who</i> is there?\r
\r
3\r
00:00:05,000 --> 00:00:06,000\r
{\\an8}42\r
"""


def test_cues_and_speakers(tmp_path: Path):
    document = open_subtitles(written(tmp_path / "a.srt", CUES))
    assert [shown(one.pieces) for one in document.segments] == [
        [("words", "This goes over"), ("break", "\r\n"), ("words", "two lines.")],
        [("words", "Hello!")],
        [("mark", "<i>"), ("words", "Who"), ("mark", "</i>"), ("words", " is there?")],
    ]


def test_everything_else_stays(tmp_path: Path):
    path = written(tmp_path / "a.srt", CUES)
    assert translated(path) == CUES.encode()
    changed = translated(path, shouting).decode()
    assert (
        "\r\ntHIS GOES OVER\r\nTWO LINES.\r\n\r\n2\r\n00:00:03,000 --> 00:00:04,000 X1:10 X2:20\r\n- hELLO!\r\n"
        in changed
    )
    assert structure(path, translated(path, spoiling)) == structure(path, CUES.encode())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Hello\n\nworld\n", "a.srt:1 begins no subtitles"),
        ("1\n00:00:01,000 -> 00:00:02,000\nHello\n", "a.srt:1 begins no subtitles"),
        (
            "1\n00:00:01,000 --> 00:00:02,000\nHello\n\n2\n00:00 --> soon\nBye\n",
            "a.srt:6 has times that cannot be read",
        ),
        ("A title\n\n1\n00:00:01,000 --> 00:00:02,000\nHello\n", "a.srt:1 should be the number of the first"),
    ],
)
def test_what_is_no_srt_is_refused(tmp_path: Path, text: str, reason: str):
    with pytest.raises(DocumentError, match=reason):
        open_subtitles(written(tmp_path / "a.srt", text))
    assert open_subtitles(written(tmp_path / "a.srt", "\n")).segments == ()
