"""Can this pair be used for training? One function decides, for the doctor's report and for the reader alike."""

import re
from dataclasses import dataclass
from enum import StrEnum

from clearformer.text.doctor.findings import Kind

# Tab is text. CR, VT, FF, U+001C to U+001E, U+0085, U+2028 and U+2029 are the doctor's "line separators": a warning.
_CONTROL = re.compile("[\x01-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f]")

# What a reader sees: neither white space nor the invisible characters that Python does not count as white space.
_VISIBLE = re.compile(r"[^\s\ufeff\u200b\u2060]")


class Reason(StrEnum):
    """Why a pair is left out; each is also a kind of finding of the doctor."""

    NUL = Kind.NUL
    CONTROL_CHARACTER = Kind.CONTROL_CHARACTER
    TOO_LONG = Kind.TOO_LONG
    BLANK = Kind.BLANK
    BLANK_SOURCE = Kind.BLANK_SOURCE
    BLANK_TARGET = Kind.BLANK_TARGET
    LENGTH_RATIO = Kind.LENGTH_RATIO
    COPY = Kind.COPY


@dataclass(frozen=True, kw_only=True)
class PairLimits:
    """Where a pair stops being a sentence and its translation, whatever the tokenizer.

    max_chars: characters on either side.
    max_ratio: longer side / shorter side, in bytes of UTF-8, because a Chinese character says as much as three letters
        and takes three bytes. It holds once the longer side has `ratio_from` bytes: "Ja." may stand for a short phrase.
    copy_from_chars: from this length on a target equal to its source is a copy; "Taxi!" is its own translation.
    """

    max_chars: int = 1000
    max_ratio: float = 9.0
    ratio_from: int = 30
    copy_from_chars: int = 20

    def __post_init__(self) -> None:
        if not 1 <= self.max_chars <= 1_000_000:
            raise ValueError(f"max_chars is {self.max_chars}; choose 1 to 1,000,000")
        if not self.max_ratio >= 1:
            raise ValueError(f"max_ratio is {self.max_ratio}; it is longer side / shorter side, so at least 1")


def classify_line(line: str, limits: PairLimits) -> Reason | None:
    """What makes a line unusable by itself; blank lines are judged with their pair."""
    if len(line) > limits.max_chars:
        return Reason.TOO_LONG
    if line.isprintable():
        return None
    if "\x00" in line:
        return Reason.NUL
    return Reason.CONTROL_CHARACTER if _CONTROL.search(line) else None


def classify_pair(source: str, target: str | None, limits: PairLimits) -> Reason | None:
    """Why this pair is left out of training, or None if it is fit. Without a target: a line of a single file."""
    reason = classify_line(source, limits)
    if reason is None and target is not None:
        reason = classify_line(target, limits)
    if reason is not None:
        return reason
    blank = is_blank(source)
    if target is None:
        return Reason.BLANK if blank else None
    if blank or is_blank(target):
        if not blank:
            return Reason.BLANK_TARGET
        return Reason.BLANK if is_blank(target) else Reason.BLANK_SOURCE
    if len(source) >= limits.copy_from_chars and source.strip() == target.strip():
        return Reason.COPY
    shorter, longer = sorted((_weight(source), _weight(target)))
    if longer > limits.max_ratio * shorter and longer >= limits.ratio_from:
        return Reason.LENGTH_RATIO
    return None


def _weight(line: str) -> int:
    return len(line) if line.isascii() else len(line.encode("utf-8", "surrogatepass"))


def is_blank(line: str) -> bool:
    """Whether a line has nothing visible."""
    return _VISIBLE.search(line) is None
