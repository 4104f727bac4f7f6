"""Recordings of any length for models that read some seconds: cut where it is quiet, read in batches, put together."""

from collections.abc import Sequence
from typing import Protocol

from clearformer.folder.preprocessing import SoundFacts
from clearformer.foundation.progress import OnProgress, unwatched
from clearformer.inference.quiet import Stretch, pieces
from clearformer.inference.sound_frames import Sound
from clearformer.inference.transcript import HeardPiece, OnPiece, Segment, SpokenWord, Transcript, moment, unheard
from clearformer.inference.transcription_settings import TranscriptionConfig
from clearformer.inference.written_piece import WrittenPiece


class PieceWriter(Protocol):
    """Writes down pieces that are short enough, several at a time."""

    def write(self, sounds: Sequence[Sound], config: TranscriptionConfig) -> list[WrittenPiece]: ...


class PiecewiseReader:
    """Pieces of all recordings are read together, those of like length in one batch; each is a segment."""

    def __init__(self, writer: PieceWriter, facts: SoundFacts) -> None:
        self.writer, self.facts = writer, facts

    def read(
        self,
        sounds: Sequence[Sound],
        config: TranscriptionConfig,
        on_progress: OnProgress = unwatched,
        on_piece: OnPiece = unheard,
    ) -> list[Transcript]:
        """The text of each recording."""
        facts = self.facts
        cut = [pieces(sound, facts.sample_rate, facts.seconds, skip=config.skip_silence) for sound in sounds]
        places = [(number, stretch) for number, stretches in enumerate(cut) for stretch in stretches]
        order = sorted(range(len(places)), key=lambda place: places[place][1].end - places[place][1].start)
        written: dict[int, WrittenPiece] = {}
        total, done = sum(map(len, sounds)), 0
        for start in range(0, len(order), config.batch):
            batch = order[start : start + config.batch]
            read = [sounds[number][stretch.start : stretch.end] for number, stretch in (places[one] for one in batch)]
            written |= dict(zip(batch, self.writer.write(read, config), strict=True))
            done += sum(map(len, read))
            on_progress(min(done, total), total)
        by_sound: list[list[tuple[Stretch, WrittenPiece]]] = [[] for _ in sounds]
        for place, (number, stretch) in enumerate(places):
            by_sound[number].append((stretch, written[place]))
            on_piece(_heard(number, stretch, written[place]))
        return [self._joined(parts, config) for parts in by_sound]

    def _joined(self, parts: Sequence[tuple[Stretch, WrittenPiece]], config: TranscriptionConfig) -> Transcript:
        rate = self.facts.sample_rate
        segments = tuple(
            Segment(
                start=moment(stretch.start / rate),
                end=moment(stretch.end / rate),
                text=piece.text,
                words=tuple(_moved(word, stretch.start / rate) for word in piece.words) if config.words else (),
            )
            for stretch, piece in parts
            if piece.text
        )
        text = " ".join(one.text for one in segments)
        return Transcript(text=text, log_prob=sum(piece.log_prob for _, piece in parts), segments=segments)


def _heard(number: int, stretch: Stretch, piece: WrittenPiece) -> HeardPiece:
    return HeardPiece(
        recording=number,
        start=stretch.start,
        end=stretch.end,
        tokens=piece.tokens,
        prompt=piece.prompt,
        spans=piece.spans,
    )


def _moved(word: SpokenWord, by: float) -> SpokenWord:
    return SpokenWord(start=moment(word.start + by), end=moment(word.end + by), text=word.text)
