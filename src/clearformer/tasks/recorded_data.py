"""Recordings beside transcripts as a training run wants them: parts, sample rate, vocabulary, shards of samples."""

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clearformer.data.class_split import hold_out_by_class
from clearformer.data.file_facts import scan
from clearformer.data.readers.sounds import Samples
from clearformer.data.readers.transcribed import Transcribed, choose_rows, read_transcribed, recordings_below
from clearformer.data.resampling import resample
from clearformer.data.shards import Column, ShardWriter
from clearformer.data.sound_augment import SoundChanges
from clearformer.data.token_pairs import TokenIds
from clearformer.folder.preprocessing import SoundFacts
from clearformer.foundation.progress import OnProgress
from clearformer.inference.sound_frames import states_for
from clearformer.tasks.data_files import DataFiles, file_names
from clearformer.tasks.next_token import ids_of
from clearformer.text.tokenizer import Tokenizer
from clearformer.text.train_tokenizer import TokenizerConfig

log = logging.getLogger(__name__)
COLUMNS = {"samples": "<i2", "scale": "<f4", "tokens": "<u4"}
CHUNK = 128  # recordings that are in memory at a time
SPARE, LEAST = 1.25, 1.0  # what is read at once: times the longest recording learned from; seconds
USUAL_RATE = 16_000  # speech has little above half of it
FULL = 32_767
SOME = 500  # transcripts, to see whether a given vocabulary can write them
FEW_TEXTS = 0.2  # of the recordings: fewer different texts are classes, and each part gets its share of every one
Example = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]  # samples of sixteen bits, what one step of them is, ids


@dataclass(frozen=True, kw_only=True)
class SoundData(DataFiles):
    """A folder with NAME.wav beside NAME.txt, or a table with a column of file names and one of texts."""

    train: str = file_names("a folder of recordings and transcripts, or a table")  # recordings to learn from
    dev: str = file_names()  # recordings to choose the best checkpoint by; empty: some of train
    test: str = file_names()  # recordings for the end
    recordings: str = file_names()  # a table's folder or archive of recordings; empty: they lie beside the table
    file: str = ""  # the column of file names; empty: it is found
    text: str = ""  # the column of texts; empty: it is found
    # which rows of a table, as column=value or column=value|value; empty: those that no other part has
    train_rows: str = ""
    dev_rows: str = ""  # the same of dev; without dev and this, some of train are held out
    test_rows: str = ""  # the same of test, or, without test, rows of train that are not learned from
    hold_out: float = 0.1  # share of the recordings, where there is no dev
    sample_rate: int = 0  # samples per second; 0: as most recordings have, up to 16,000
    mels: int = 40  # pitch bands
    margin: float = 0.1  # seconds of silence before and after each recording
    max_seconds: float = 20.0  # longer recordings are left out, and counted
    vocabulary: TokenizerConfig = field(default_factory=lambda: TokenizerConfig(kind="character", min_frequency=1))
    changes: SoundChanges = field(default_factory=SoundChanges)  # augmentation, drawn anew at every reading

    def __post_init__(self) -> None:
        if not 0 < self.hold_out < 1:
            raise ValueError(f"data.hold_out is a share of the recordings, above 0 and below 1, not {self.hold_out}")
        if self.sample_rate and not 1000 <= self.sample_rate <= 48_000:
            raise ValueError(f"data.sample_rate is from 1,000 to 48,000, or 0, not {self.sample_rate}")
        if self.mels < 4:
            raise ValueError(f"data.mels counts pitch bands, at least 4, not {self.mels}")
        if not 0 < self.max_seconds <= 600:
            raise ValueError(f"data.max_seconds is above 0 and at most 600, not {self.max_seconds}")


class SpeechParts(NamedTuple):
    """What is learned from, and what the best checkpoint is chosen by."""

    train: list[Transcribed]
    dev: list[Transcribed]


def split(data: SoundData, folder: Path) -> SpeechParts:
    """The recordings of each part; the same recording is never in both."""
    given = read_part(data, folder, data.train)
    tested = choose_rows(data.test_rows, given) if data.test_rows and not data.test else [False] * len(given)
    looked_at = choose_rows(data.dev_rows, given) if data.dev_rows and not data.dev else [False] * len(given)
    learned = choose_rows(data.train_rows, given) if data.train_rows else [True] * len(given)
    train = [one for one, *out, kept in zip(given, tested, looked_at, learned, strict=True) if kept and not any(out)]
    if data.dev:
        dev = read_part(data, folder, data.dev)
        dev = (
            [one for one, kept in zip(dev, choose_rows(data.dev_rows, dev), strict=True) if kept]
            if data.dev_rows
            else dev
        )
    elif data.dev_rows:
        dev = [one for one, kept in zip(given, looked_at, strict=True) if kept]
    else:
        held = hold_out(train, data.hold_out)
        dev = [one for one, out in zip(train, held, strict=True) if out]
        train = [one for one, out in zip(train, held, strict=True) if not out]
    for part, name in ((train, "train"), (dev, "dev")):
        if not part:
            raise ValueError(f"{folder / data.train} has no recordings with a transcript for {name}; give some")
    return SpeechParts(train, dev)


def read_part(data: SoundData, folder: Path, name: str) -> list[Transcribed]:
    """The recordings of a folder or a table; those whose transcript is empty are left out, and counted."""
    recordings = folder / data.recordings if data.recordings else None
    found = list(read_transcribed(folder / name, recordings=recordings, file=data.file, text=data.text))
    kept = [one for one in found if one.text]
    if len(kept) < len(found):
        log.info("%s: %d recordings with an empty transcript are left out", name, len(found) - len(kept))
    return kept


def hold_out(examples: Sequence[Transcribed], share: float) -> list[bool]:
    """Which are held out; equal recordings stay together."""
    few = len({one.text for one in examples}) <= FEW_TEXTS * len(examples)
    labels = [one.text if few else "" for one in examples]
    return hold_out_by_class([one.digest() for one in examples], labels, share=share)


def sound_facts(data: SoundData, train: Sequence[Transcribed]) -> SoundFacts:
    """How recordings become frames: 25 milliseconds each, one every 10."""
    rate = data.sample_rate or min(USUAL_RATE, train[0].read().rate)
    return SoundFacts(
        sample_rate=rate,
        mels=data.mels,
        window=round(0.025 * rate),
        hop=round(0.01 * rate),
        seconds=data.max_seconds,
        fill=False,
        margin=data.margin,
    )


def read_at_once(facts: SoundFacts, samples: NDArray[np.int64]) -> SoundFacts:
    """In use, recordings much longer than any that was learned from are cut where it is quiet: a model that has heard
    seconds loses words of a minute. samples: how long each recording is.
    """
    longest = SPARE * float(samples.max()) / facts.sample_rate
    return replace(facts, seconds=min(facts.seconds, max(longest, LEAST)))


def made_from(data: SoundData, folder: Path, facts: SoundFacts, tokenizer: Tokenizer) -> dict[str, Any]:
    """What shards depend on."""
    named = [folder / name for name in (data.train, data.dev, data.recordings) if name]
    files = [path for one in named for path in ([one] if one.is_file() else _inside(one))]
    return {
        "files": [vars(scan(path)) for path in files],
        "tokenizer": tokenizer.fingerprint(),
        "sample_rate": facts.sample_rate,
        "max_seconds": data.max_seconds,
        "columns": [data.file, data.text],
        "rows": [data.train_rows, data.dev_rows, data.test_rows, None if data.dev else data.hold_out],
    }


def _inside(folder: Path) -> list[Path]:
    sounds = list(recordings_below(folder))
    return [*sounds, *(text for path in sounds if (text := path.with_suffix(".txt")).is_file())]


def fill_shards(
    train: Sequence[Transcribed], facts: SoundFacts, tokenizer: Tokenizer, on_progress: OnProgress
) -> Callable[[ShardWriter], dict[str, Any]]:
    """Recordings as samples of sixteen bits, with their transcripts as ids."""

    def fill(writer: ShardWriter) -> dict[str, Any]:
        kept, left = 0, 0
        for start in range(0, len(train), CHUNK):
            rows = as_rows(train[start : start + CHUNK], facts, tokenizer)
            left += len(train[start : start + CHUNK]) - len(rows)
            kept += len(rows)
            if rows:
                writer.add(**{name: _column([row[place] for row in rows]) for place, name in enumerate(COLUMNS)})
            on_progress(min(start + CHUNK, len(train)), len(train))
        if left:
            log.info("%d recordings are left out: longer than %g s, or too short for their text", left, facts.seconds)
        if not kept:
            raise ValueError(f"no recording has at most {facts.seconds:g} s and time for its text; raise max_seconds")
        return {"kept": kept}

    return fill


def as_rows(examples: Sequence[Transcribed], facts: SoundFacts, tokenizer: Tokenizer) -> list[Example]:
    """What fits of some recordings."""
    ids = ids_of(tokenizer, [one.text for one in examples])
    sounds = [samples_of(one, facts.sample_rate) for one in examples]
    return [
        pack(sound, tokens)
        for sound, tokens in zip(sounds, ids, strict=True)
        if len(tokens) and fits(sound, tokens, facts)
    ]


def samples_of(example: Transcribed, rate: int) -> Samples:
    """A recording at the model's rate."""
    recorded = example.read()
    return resample(recorded.samples, recorded.rate, rate)


def fits(sound: Samples, tokens: TokenIds, facts: SoundFacts) -> bool:
    """Whether a recording is short enough, and long enough for a frame per token and one between two equal ones."""
    needed = len(tokens) + int((tokens[1:] == tokens[:-1]).sum())
    seconds = len(sound) / facts.sample_rate
    return seconds <= facts.seconds and states_for(frame_count(len(sound), facts), facts) >= needed


def frame_count(samples: int, facts: SoundFacts) -> int:
    """How many frames a recording has, or samples where those are read, with its margins."""
    if facts.reads == "samples":
        return max(facts.window, samples + 2 * round(facts.margin * facts.sample_rate))
    return samples // facts.hop + 2 * round(facts.margin * facts.sample_rate) // facts.hop + 1


def batch_length(samples: NDArray[np.int64], facts: SoundFacts) -> NDArray[np.int64]:
    """What recordings count in a batch: their frames, or, where samples are read, the states made of them."""
    if facts.reads == "samples":
        return np.maximum(samples // facts.hop, 1)
    return frame_count(1, facts) + samples // facts.hop


def check_letters(tokenizer: Tokenizer, train: Sequence[Transcribed]) -> None:
    """Refuse transcripts that a given vocabulary mostly cannot write: it would learn marks of the unknown."""
    letters = Counter(letter for one in train[:SOME] for letter in one.text if not letter.isspace())
    unknown = tokenizer.special_ids.get("unk")
    known = {letter for letter in letters if _writes(tokenizer, letter, unknown)}
    lacking = Counter({letter: count for letter, count in letters.items() if letter not in known})
    if 2 * lacking.total() <= letters.total():
        return
    capitals = all(_writes(tokenizer, letter.upper(), unknown) for letter in lacking if letter.upper() != letter)
    remedy = "write the transcripts in capitals" if capitals and known.isdisjoint("abc") else "choose another start"
    shown = " ".join(letter for letter, _ in lacking.most_common(5))
    raise ValueError(
        f"the vocabulary that training begins with has none of {shown}, and so of most letters of the transcripts; "
        f"{remedy}"
    )


def _writes(tokenizer: Tokenizer, letter: str, unknown: int | None) -> bool:
    try:
        ids = tokenizer.encode(letter, add_special=False).ids
    except Exception:  # the library has no class of its own for a vocabulary without a mark of the unknown
        return False
    return bool(ids) and unknown not in ids


def pack(sound: Samples, tokens: TokenIds) -> Example:
    """Sixteen bits, as most recordings have; a recording that is louder than full scale keeps its loudness."""
    peak = float(np.abs(sound).max(initial=0.0))
    scale = 1 / (FULL + 1) if peak <= 1 else peak / FULL
    bits = np.clip(np.round(sound / scale), -FULL - 1, FULL).astype(np.int16)
    return bits, np.array([scale], dtype=np.float32), tokens


def unpack(example: Example) -> tuple[Samples, TokenIds]:
    """The inverse."""
    bits, scale, tokens = example
    return bits.astype(np.float32) * np.float32(scale[0]), tokens.astype(np.int64)


def _column(rows: Sequence[NDArray[Any]]) -> Column:
    return Column(np.concatenate(rows), np.array([len(row) for row in rows]))
