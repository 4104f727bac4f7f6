"""Segments of speech as subtitles: SubRip (.srt) and WebVTT (.vtt)."""

from collections.abc import Iterable, Iterator
from typing import Literal

from clearformer.inference.transcript import Segment

Kind = Literal["srt", "vtt"]
_FOR_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})  # a cue of WebVTT is marked-up text


def subtitle_lines(segments: Iterable[Segment], kind: Kind) -> Iterator[str]:
    """The lines of a subtitle file. A segment stays on one line: an empty one would end its cue."""
    if kind == "vtt":
        yield from ("WEBVTT", "")
    for number, segment in enumerate(segments, start=1):
        text = " ".join(segment.text.split())
        if kind == "srt":
            yield str(number)
        yield f"{clock(segment.start, kind)} --> {clock(segment.end, kind)}"
        yield from (text.translate(_FOR_HTML) if kind == "vtt" else text, "")


def clock(seconds: float, kind: Kind) -> str:
    """Hours, minutes, seconds and thousandths, behind a comma for SubRip and a point for WebVTT."""
    thousandths = round(seconds * 1000)
    minutes, rest = divmod(thousandths, 60_000)
    mark = "," if kind == "srt" else "."
    return f"{minutes // 60:02}:{minutes % 60:02}:{rest // 1000:02}{mark}{rest % 1000:03}"
