"""What was said, and when: plain data."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class SpokenWord:
    """A word, with the seconds from the recording's beginning."""

    start: float
    end: float
    text: str


@dataclass(frozen=True, kw_only=True)
class Segment:
    """A piece of a transcript, with the seconds from the recording's beginning. words: where they were asked for."""

    start: float
    end: float
    text: str
    words: tuple[SpokenWord, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Transcript:
    """What was said, and when."""

    text: str
    log_prob: float
    segments: tuple[Segment, ...] = ()
    language: str | None = None  # its code, of models that know several


@dataclass(frozen=True, kw_only=True)
class HeardPiece:
    """A stretch of a recording that the network read at once, and what it wrote of it.

    recording: its number among those that were given. start, end: its samples. prompt: what a decoder was shown before
    it wrote the tokens, marks of time among them. spans: for a network that labels frames, the first and the last state
    of each token. used: whether the text became part of the transcript; what is taken for silence does not.
    """

    recording: int
    start: int
    end: int
    tokens: tuple[int, ...]
    prompt: tuple[int, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    used: bool = True


OnPiece = Callable[[HeardPiece], None]


def unheard(piece: HeardPiece) -> None:
    """Nobody wants to know of the pieces."""


def moment(seconds: float) -> float:
    """To a thousandth of a second."""
    return round(float(seconds), 3)
