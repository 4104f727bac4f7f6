"""Whisper's marks of time: tokens behind all others that say when a segment of speech begins and ends.

A mark each 20 milliseconds, from 0 to the end of the window. The rules are those of the published decoder (Radford et
al., 2022): marks come in pairs around a text, never run backwards, and win together against any single word.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

STEP = 0.02  # seconds from one mark to the next
LATEST_START = 1.0  # seconds: speech that seems to begin later is rather a mistake about its beginning


@dataclass(frozen=True, kw_only=True)
class TimedTokens:
    """Tokens of a segment, with their times in seconds from the window's beginning. end: None where it was not said."""

    start: float
    end: float | None
    tokens: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class TimeMarks:
    """first: the token that stands for 0 seconds. end: the token that ends a text; words are below it."""

    first: int
    end: int

    def restrict(self, logits: Tensor, written: Sequence[int]) -> Tensor:
        """Logits of the next token, with what may not follow at minus infinity. logits: one per token."""
        logits = logits.clone()
        logits[self.end + 1 : self.first] = -torch.inf  # marks of language and task are not said
        if not written:  # a time comes first
            logits[: self.first] = -torch.inf
            logits[self.first + round(LATEST_START / STEP) + 1 :] = -torch.inf
            return logits
        closed = self.closes(written)
        if closed:
            logits[: self.end] = -torch.inf  # the next segment begins, or all is said
        elif written[-1] >= self.first:
            logits[self.first :] = -torch.inf  # a segment has begun: now its text
        # A segment may begin where the last one ended, but has to take time itself.
        latest = max(token for token in written if token >= self.first)
        logits[self.first : latest + (0 if closed else 1)] = -torch.inf
        scores = logits.log_softmax(-1)
        if scores[self.first :].logsumexp(-1) > scores[: self.first].max():
            logits[: self.first] = -torch.inf
        return logits

    def closes(self, written: Sequence[int]) -> bool:
        """Whether the last token is the mark at a segment's end: a mark behind a word."""
        return len(written) > 1 and written[-1] >= self.first > written[-2]

    def resume(self, written: Sequence[int]) -> float | None:
        """Where the last whole segment ended, in seconds, if another one began behind it and was broken off."""
        whole = [segment.end for segment in self.segments(written) if segment.end is not None]
        return whole[-1] if whole and not self.closes(written) else None

    def seconds(self, token: int) -> float:
        """What a mark stands for, from the window's beginning."""
        return (token - self.first) * STEP

    def segments(self, written: Sequence[int]) -> list[TimedTokens]:
        """The texts between the marks. A segment that was broken off has no end."""
        found: list[TimedTokens] = []
        start, tokens = 0.0, list[int]()
        for token in written:
            if token < self.first:
                tokens.append(token)
                continue
            seconds = self.seconds(token)
            if tokens:
                found.append(TimedTokens(start=start, end=seconds, tokens=tuple(tokens)))
                tokens = []
            start = seconds
        if tokens:
            found.append(TimedTokens(start=start, end=None, tokens=tuple(tokens)))
        return found
