"""What is wrong with recordings and their transcripts, by file: silence, clipping, gaps, lengths, rates, repeats."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from clearformer.data.readers.sounds import Recorded, SoundError
from clearformer.data.readers.tables import LabelledError
from clearformer.data.readers.transcribed import (
    FolderShelf,
    Transcribed,
    read_entries,
    read_transcript,
    recordings_below,
)

FEWEST = 20  # recordings; below this there is nothing to learn from and nothing to hold out
SHOWN = 5  # examples of each kind
SHORT, LONG = 0.1, 30.0  # seconds
SILENT = 0.001  # of full scale: softer recordings hold nothing that can be heard
FULL, RUN = 0.999, 3  # of full scale: so many samples in a row at the limit were cut off there
CLIPPED = 10  # such places in a recording
FAST = 30.0  # letters per second: nobody speaks so quickly
NARROW = 8_000  # samples per second: below it much of what tells words apart is missing

UNREADABLE = "cannot be read"
LEFT_OUT = "left out"


class Heard(NamedTuple):
    """A recording that can be learned from."""

    example: Transcribed
    seconds: float
    rate: int


@dataclass(frozen=True, kw_only=True)
class RecordingReport:
    """How much speech there is, and what is wrong."""

    recordings: int
    minutes: float
    rates: dict[int, int]  # samples per second -> recordings
    findings: dict[str, list[str]]  # what is wrong -> where
    fatal: bool

    def to_text(self) -> str:
        rates = ", ".join(f"{rate:,} Hz" for rate in self.rates)
        lines = [f"{self.recordings:,} recordings with transcripts, {self.minutes:.1f} minutes, {rates or 'no rate'}"]
        for kind, places in self.findings.items():
            lines.append(f"{kind}: {len(places):,}")
            lines += [f"   {place}" for place in places[:SHOWN]]
        return "\n".join([*lines, *([] if self.findings else ["nothing wrong was found"])])

    def to_json(self) -> str:
        told = {
            "fatal": self.fatal,
            "recordings": self.recordings,
            "minutes": round(self.minutes, 2),
            "rates": {str(rate): count for rate, count in self.rates.items()},
            "counts": {kind: len(places) for kind, places in self.findings.items()},
            "findings": {kind: places[:SHOWN] for kind, places in self.findings.items()},
        }
        return json.dumps(told, ensure_ascii=False, indent=2)


class _Findings:
    """What is wrong, by kind, in the order in which it was found."""

    def __init__(self) -> None:
        self.by_kind: dict[str, list[str]] = {}

    def add(self, kind: str, place: object) -> None:
        self.by_kind.setdefault(kind, []).append(str(place))


def examine_recordings(path: Path) -> tuple[list[Heard], RecordingReport]:
    """Listen to everything once. Returns what can be learned from, and what is wrong."""
    found = _Findings()
    usable: list[Heard] = []
    seen: dict[str, Transcribed] = {}
    for example in _examples(path, found):
        heard = _hear(example, found)
        if heard is None:
            continue
        before = seen.setdefault(example.digest(), example)
        if before is not example:
            other = "" if before.text == example.text else ", with another transcript; decide for one"
            found.add("the same recording again (kept in the same part)", f"{example.path}: as {before.path}{other}")
        usable.append(heard)
    rates = Counter(one.rate for one in usable)
    _unusual(usable, rates, found)
    if few := len(usable) < FEWEST:
        detail = f"{path} has {len(usable)} recordings with a transcript, but at least {FEWEST} are needed; add some"
        found.by_kind = {"too little to learn from": [detail], **found.by_kind}
    return usable, RecordingReport(
        recordings=len(usable),
        minutes=sum(one.seconds for one in usable) / 60,
        rates=dict(rates.most_common()),
        findings=found.by_kind,
        fatal=few,
    )


def _examples(path: Path, found: _Findings) -> Iterator[Transcribed]:
    if path.is_file():
        for entry in read_entries(path):
            if entry.found is None:
                found.add(f"a transcript without a recording ({LEFT_OUT})", f"{entry.place}: {entry.named}")
            elif not entry.found.text:
                found.add(f"an empty transcript ({LEFT_OUT})", entry.place)
            else:
                yield entry.found
        return
    shelf = FolderShelf(path)
    recordings = list(recordings_below(path))
    stems = {one.with_suffix("") for one in recordings}
    for text in sorted(path.rglob("*.txt")):
        if text.with_suffix("") not in stems:
            found.add(f"a transcript without a recording ({LEFT_OUT})", text)
    for one in recordings:
        text = one.with_suffix(".txt")
        if not text.is_file():
            found.add(f"a recording without a transcript ({LEFT_OUT})", one)
            continue
        try:
            said = read_transcript(text)
        except LabelledError as error:
            found.add(f"{UNREADABLE} ({LEFT_OUT})", error)
            continue
        if said:
            yield Transcribed(path=one, text=said, place=str(text), shelf=shelf)
        else:
            found.add(f"an empty transcript ({LEFT_OUT})", text)


def _hear(example: Transcribed, found: _Findings) -> Heard | None:
    """Listen to a recording; None where nothing can be learned from it."""
    try:
        recorded = example.read()
    except SoundError as error:
        found.add(f"{UNREADABLE} ({LEFT_OUT})", error)
        return None
    seconds = len(recorded.samples) / recorded.rate
    if float(np.abs(recorded.samples).max()) < SILENT:
        found.add(f"silence ({LEFT_OUT})", example.path)
        return None
    if seconds < SHORT:
        found.add(f"shorter than {SHORT} s ({LEFT_OUT})", f"{example.path}: {seconds:.3f} s")
        return None
    if seconds > LONG:
        found.add(
            f"longer than {LONG:g} s ({LEFT_OUT}; cut it where the speaker pauses)", f"{example.path}: {seconds:.0f} s"
        )
        return None
    _doubt(example, recorded, seconds, found)
    return Heard(example, seconds, recorded.rate)


def _doubt(example: Transcribed, recorded: Recorded, seconds: float, found: _Findings) -> None:
    """What can be learned from, but may be wrong."""
    if (places := clipped_places(recorded)) >= CLIPPED:
        found.add("clipped: louder than the recording can hold", f"{example.path}: at {places:,} places")
    letters = sum(not letter.isspace() for letter in example.text)
    if letters > FAST * seconds + 5:
        found.add(
            "too much text for its time; does it belong to another recording?",
            f"{example.path}: {letters} letters in {seconds:.1f} s",
        )


def clipped_places(recorded: Recorded) -> int:
    """How often several samples in a row stand at the limit."""
    full = np.abs(recorded.samples) >= FULL
    runs = np.convolve(full, np.ones(RUN), mode="valid") >= RUN
    return int(np.count_nonzero(np.diff(runs.astype(np.int8), prepend=0) == 1))


def _unusual(usable: Sequence[Heard], rates: Counter[int], found: _Findings) -> None:
    if not rates:
        return
    usual, count = rates.most_common(1)[0]
    for one in usable:
        if one.rate != usual:
            found.add(
                f"another sample rate than the usual {usual:,} Hz (made equal)", f"{one.example.path}: {one.rate:,} Hz"
            )
    if usual < NARROW:
        found.add(f"fewer than {NARROW:,} samples per second", f"{count:,} recordings have {usual:,}")
