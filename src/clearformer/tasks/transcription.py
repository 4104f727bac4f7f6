"""Transcription: speech in, text out, judged by its wrong words.

Two networks write: an encoder that labels each frame with a token or with nothing (`shape = "encoder"`), which is quick
and needs little data, and an encoder–decoder that writes token by token. Published Whisper models are used by the same
verb.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from clearformer.data.collate import PairBatch, collate_pairs
from clearformer.data.readers.sounds import Samples
from clearformer.data.readers.transcribed import Transcribed, choose_rows, is_archive, read_transcribed
from clearformer.data.shards import shards_for
from clearformer.data.sound_augment import change_frames, change_samples, join_sounds
from clearformer.data.token_pairs import TokenIds
from clearformer.evaluation.word_errors import quick_errors, score_transcripts
from clearformer.folder.description import ModelFolder
from clearformer.folder.preprocessing import Preprocessing, SoundFacts
from clearformer.inference.sound_frames import any_frames_of, stack_frames, states_for
from clearformer.inference.transcriber import Transcriber
from clearformer.tasks import recorded_data
from clearformer.tasks.automatic import recordings
from clearformer.tasks.data_files import folder_of
from clearformer.tasks.learned_vocabulary import as_preprocessing, vocabularies
from clearformer.tasks.next_token import NextTokenObjective, ids_of
from clearformer.tasks.next_token import loss as next_token_loss
from clearformer.tasks.recorded_data import COLUMNS, Example, SoundData
from clearformer.tasks.task import Judging, Prepared, Scores, Seed, Task, Training, Workspace
from clearformer.tasks.verbs import VERBS
from clearformer.training.frame_loss import frame_label_loss
from clearformer.training.loss import Loss

MOST_DEV = 300  # development recordings whose loss is looked at


@dataclass(frozen=True, kw_only=True)
class SpeechObjective:
    """All ways in which an encoder's frames can spell the text; of an encoder–decoder, the next token."""

    smoothing: float = 0.1  # encoder–decoder: label smoothing, the share of the probability spread over all tokens

    def __post_init__(self) -> None:
        if not 0 <= self.smoothing < 1:
            raise ValueError(f"objective.smoothing must be at least 0 and below 1, not {self.smoothing}")


class _Known(NamedTuple):
    """The objective, which token stands for nothing in a frame, and how recordings are read."""

    given: SpeechObjective
    blank: int
    facts: SoundFacts


class HeldSounds(NamedTuple):
    """Recordings at the model's rate, with what is said in them."""

    sounds: list[Samples]
    texts: list[str]


def prepare(data: SoundData, workspace: Workspace) -> Prepared[Example]:
    """Read the recordings into shards, hold some out, and learn a vocabulary from the transcripts."""
    folder = folder_of(data, workspace.base)
    train, dev = recorded_data.split(data, folder)
    start = None if workspace.start is None else workspace.start.preprocessing
    # an encoder that was only pretrained has no vocabulary
    given = () if start is None or start.tokenizer is None else (start.sides[1],)
    if given:
        recorded_data.check_letters(given[0], train)
    read = as_preprocessing(vocabularies(data.vocabulary, {"text": [one.text for one in train]}, workspace, given))
    tokenizer = read.sides[1]
    known = None if start is None else start.sound
    facts = known or recorded_data.sound_facts(data, train)
    made = workspace.folder / "shards"
    shards = shards_for(
        made,
        columns=COLUMNS,
        made_from=recorded_data.made_from(data, folder, facts, tokenizer),
        fill=recorded_data.fill_shards(train, facts, tokenizer, workspace.on_progress),
        same=workspace.resume,
    )
    joined = (data.changes.join + 1) / 2  # recordings in a row, on average
    frames = recorded_data.batch_length(shards.lengths("samples"), facts)
    used = facts if facts is known else recorded_data.read_at_once(facts, shards.lengths("samples"))
    held = HeldSounds([recorded_data.samples_of(one, facts.sample_rate) for one in dev], [one.text for one in dev])
    return Prepared(
        train=shards,  # type: ignore[arg-type]  # three columns
        lengths=[np.ceil(side * joined).astype(np.int64) for side in (frames, shards.lengths("tokens") + 1)],
        dev=_rows(held, tokenizer, facts)[:MOST_DEV],
        held=held,
        preprocessing=Preprocessing(tokenizer=tokenizer, sound=used),
        objective=lambda said: _Known(said, tokenizer.pad_id, facts),
    )


def _rows(held: HeldSounds, tokenizer: Any, facts: SoundFacts) -> list[Example]:
    ids = ids_of(tokenizer, held.texts)
    pairs = zip(held.sounds, ids, strict=True)
    return [
        recorded_data.pack(sound, row) for sound, row in pairs if len(row) and recorded_data.fits(sound, row, facts)
    ]


def sizes(preprocessing: Preprocessing) -> dict[str, Any]:
    """What vocabulary and spectra decide of the model; one that reads samples gets a head as published ones have it."""
    facts = preprocessing.sound
    assert facts is not None
    spectra = facts.reads == "spectra"
    return {
        "vocab_size": preprocessing.sides[1].vocab_size,
        "front": {"kind": "sound", "mels": facts.mels} if spectra else {"kind": "samples"},
        "head": {"kind": "language-model"} | ({} if spectra else {"bias": True}),
    }


def collate(data: SoundData, preprocessing: Preprocessing) -> Callable[[Sequence[Example], Seed], PairBatch]:
    """Samples as a batch of spectra; in training joined, changed and masked as the seed says."""
    facts, tokenizer = preprocessing.sound, preprocessing.sides[1]
    assert facts is not None
    changes = data.changes

    def joined(rows: Sequence[tuple[Samples, TokenIds]], random: np.random.Generator) -> tuple[Samples, TokenIds]:
        sound = join_sounds([sound for sound, _ in rows], facts.sample_rate, changes.pause, random)
        [ids] = ids_of(tokenizer, [" ".join(tokenizer.decode(tokens) for _, tokens in rows)])
        return sound, ids

    def drawn(rows: Sequence[tuple[Samples, TokenIds]], random: np.random.Generator) -> list[tuple[Samples, TokenIds]]:
        more = int(random.integers(changes.join))  # as many for all rows, so that these stay of like length
        made = []
        for row in rows:
            others = random.integers(len(rows), size=more)
            made.append(joined([row, *(rows[other] for other in others)], random) if more else row)
        return [(change_samples(sound, facts.sample_rate, changes, random), ids) for sound, ids in made]

    def collate_rows(rows: Sequence[Example], seed: Seed) -> PairBatch:
        random = np.random.default_rng(seed) if seed else None
        pairs = [recorded_data.unpack(row) for row in rows]
        pairs = pairs if random is None else drawn(pairs, random)
        frames = [any_frames_of(sound, facts) for sound, _ in pairs]
        if random is not None and facts.reads == "spectra":  # samples have neither pitches nor stripes
            frames = [torch.from_numpy(change_frames(one.numpy(), changes, random)) for one in frames]
        heard = stack_frames(frames)
        known, pad = tokenizer.special_ids, tokenizer.pad_id
        written = collate_pairs(  # a published vocabulary of labels may have no marks of a beginning and an end
            [(ids, ids) for _, ids in pairs], pad=pad, bos=known.get("bos", pad), eos=known.get("eos", pad)
        )
        return PairBatch(
            source=heard.frames,
            source_keep=heard.keep,
            target_in=written.target_in,
            target_out=written.target_out,
            target_keep=written.target_keep,
        )

    return collate_rows


def loss(model: nn.Module, batch: PairBatch, objective: _Known) -> Loss:
    """Of an encoder, how improbable all paths are that spell the text; of an encoder–decoder, its next token."""
    if getattr(model, "decoder", None) is not None:
        return next_token_loss(model, batch, NextTokenObjective(smoothing=objective.given.smoothing))
    logits: Tensor = model(batch.source, keep=batch.source_keep)
    frames = states_for(batch.source_keep.sum(dim=1), objective.facts)
    lengths = batch.target_keep.sum(dim=1) - 1  # without the end token
    return frame_label_loss(logits, frames, batch.target_out, lengths, blank=objective.blank)


def score(transcriber: Transcriber, held: HeldSounds, judging: Judging) -> Scores:
    """Word and character error rates and whole matches, with intervals if asked thoroughly."""
    count = len(held.texts) if judging.thorough else judging.scoring.examples
    sounds, texts = held.sounds[:count], held.texts[:count]
    mine = judging.ranks.share_out(sounds)
    found = judging.ranks.collect([one.text for one in transcriber.transcribe(mine, judging.options)])
    samples = {f"sample_{n}": f"{texts[n]} → {found[n]}" for n in range(min(3, len(found)))}
    return {**(score_transcripts if judging.thorough else quick_errors)(found, texts), **samples}


def held_out(files: Sequence[Path], folder: ModelFolder) -> HeldSounds:
    """A test set: a folder of recordings with transcripts, or a table, with the folder or archive of its recordings."""
    facts = folder.preprocessing.sound or SoundFacts()
    examples = list(_test_examples(files, folder.provenance))
    if not examples:
        raise ValueError(f"{files[0]} holds no recordings with a transcript: give NAME.wav beside NAME.txt, or a table")
    return HeldSounds(
        [recorded_data.samples_of(one, facts.sample_rate) for one in examples], [one.text for one in examples]
    )


def _test_examples(files: Sequence[Path], told: Any) -> list[Transcribed]:
    recordings = next((path for path in files if len(files) > 1 and (path.is_dir() or is_archive(path))), None)
    said = told.get("columns")
    columns = {key: str(said.get(key) or "") for key in ("file", "text")} if isinstance(said, dict) else {}
    found: list[Transcribed] = []
    for path in files:
        if path == recordings:
            continue
        mine = list(read_transcribed(path, recordings=recordings, **({} if path.is_dir() else columns)))
        rows = told.get("test_rows")
        if rows and mine and str(rows).partition("=")[0] in mine[0].row:
            mine = [one for one, kept in zip(mine, choose_rows(str(rows), mine), strict=True) if kept]
        found += [one for one in mine if one.text]
    return found


def facts(recipe: Any) -> dict[str, Any]:
    """What a folder remembers of its recipe."""
    data = recipe.data
    columns = {key: value for key in ("file", "text") if (value := getattr(data, key))}
    rows = {"test_rows": data.test_rows} if data.test_rows else {}
    return {"data": data.corpus or Path(data.train).name, "columns": columns, **rows}


def test_files(data: SoundData) -> tuple[str, ...]:
    """The recipe's own test set: files of its own, or rows of the training table."""
    named = data.test or (data.train if data.test_rows else "")
    return tuple(filter(None, (named, data.recordings if named else "")))


TASK = Task(
    name="transcription",
    verb=VERBS["transcribe"],
    use=Transcriber,
    training=Training(
        data=SoundData,
        objective=SpeechObjective,
        prepare=prepare,
        sizes=sizes,
        collate=collate,
        loss=loss,
        score=score,
        held_out=held_out,
        test_files=test_files,
        best="-wer",
        facts=facts,
    ),
    automatic=recordings.AUTOMATIC,
)
