"""What a model of speech hears: the text of a recording, and for each token of it where the network looked or spoke.

The recording is read, cut into pieces and written down by the object behind `clearformer transcribe`. What the pages
show of a piece is one more pass of the same network over the same frames and tokens, recorded. N tokens, T frames,
S states (half as many as frames), H heads, V labels. Of a network that reads samples a spectrum is shown that it never
sees, two frames for each of its states.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from clearformer.data.readers.sounds import SoundError, read_recorded
from clearformer.data.resampling import resample
from clearformer.inference.frame_label_writer import FrameLabelWriter
from clearformer.inference.piecewise_reader import PiecewiseReader
from clearformer.inference.sound_frames import Sound, frames_of, spectrum_of, states_for
from clearformer.inference.transcriber import Transcriber
from clearformer.inference.transcript import HeardPiece
from clearformer.inference.whisper_reader import WhisperReader
from clearformer.serving.admission import Turns
from clearformer.serving.refusal import Refused
from clearformer.studio.attention_layers import AttentionLayer, attention_layers
from clearformer.studio.packing import pack
from clearformer.studio.shown_model import ShownModel
from clearformer.studio.spelling import Token, spell
from clearformer.studio.trace_cache import TraceCache
from clearformer.studio.uploads import Kept, fingerprint

MOST_SECONDS = 120  # of a recording on a page: somebody waits for it
MOST_LABELS = 40  # whose probability is shown frame by frame


@dataclass(frozen=True)
class SoundLook:
    """One forward pass over a piece of a recording. frames: 1 T mels, or samples; ids: 1 N, what a decoder is given."""

    name: str
    frames: Tensor = field(compare=False, repr=False)
    ids: Tensor | None = field(compare=False, repr=False)

    def arguments(self) -> tuple[Tensor, ...]:
        """What the network is called with."""
        return (self.frames,) if self.ids is None else (self.frames, self.ids)


@dataclass(frozen=True)
class HeardRecording:
    """A recording at the model's rate, and the pieces in which it was read."""

    samples: Sound = field(repr=False)
    pieces: tuple[HeardPiece, ...]


class SoundViewer:
    """Answers about recordings. Answers are plain data, ready for JSON."""

    def __init__(self, shown_model: ShownModel, traces: TraceCache, turns: Turns) -> None:
        self.shown_model, self._traces, self._turns = shown_model, traces, turns
        self._kept: Kept[HeardRecording] = Kept()

    @cached_property
    def transcriber(self) -> Transcriber:
        """The object behind `clearformer transcribe`."""
        try:
            return Transcriber(self.shown_model.bundle)
        except ValueError as error:
            raise Refused("nosound", "this model does not write down speech") from error

    @cached_property
    def layers(self) -> list[AttentionLayer]:
        """Those in which a token, or a frame, looks at the recording: cross-attention, or an encoder's own."""
        found = attention_layers(self.shown_model.model)
        cross = [layer for layer in found if layer.kind == "cross"]
        return cross or [layer for layer in found if layer.stack == "encoder"]

    def take(self, content: bytes) -> dict[str, Any]:
        """Read a recording, and write down what is said."""
        rate = self.transcriber.facts.sample_rate
        try:
            recorded = read_recorded(Path("recording.wav"), content)
        except SoundError as error:
            raise Refused("sound", "{reason}", reason=str(error)) from error
        if (seconds := len(recorded.samples) / recorded.rate) > MOST_SECONDS:
            sentence = "the recording has {seconds} seconds, more than the {limit} that are shown; cut it"
            raise Refused("longsound", sentence, seconds=round(seconds), limit=MOST_SECONDS)
        samples = resample(recorded.samples, recorded.rate, rate)
        pieces: list[HeardPiece] = []
        with self._turns.mine():
            [found] = self.transcriber.transcribe([samples], words=True, on_piece=pieces.append)
        name = fingerprint(content)
        self._kept.put(name, HeardRecording(samples, tuple(pieces)))
        return {
            "sound": name,
            "seconds": seconds,
            "rate": recorded.rate,
            "read_rate": rate,
            **asdict(found),
            "pieces": [{"start": one.start / rate, "end": one.end / rate, "used": one.used} for one in pieces],
            "layers": [asdict(layer) for layer in self.layers],
        }

    def piece(self, sound: str, number: int) -> dict[str, Any]:
        """The spectrogram of a piece, its tokens, and what each frame says where the network labels frames."""
        heard, piece, _ = self._look(sound, number)
        facts = self.transcriber.facts
        hop = max(1, facts.step // 2)
        begin = round(facts.margin * facts.sample_rate / hop) if not facts.fill else 0
        count = -(-(piece.end - piece.start) // hop)
        frames = spectrum_of(heard.samples[piece.start : piece.end], facts)[begin : begin + count]
        labels = self._labels(heard, piece)
        return {
            "frames": pack(frames),
            "step": hop / facts.sample_rate,
            "begin": begin,  # frames of silence before the piece
            "start": piece.start / facts.sample_rate,
            "tokens": self._spelled(piece.tokens),
            "spans": piece.spans,
            "labels": labels,
        }

    def attention(self, sound: str, number: int, layer: int, head: int | None, token: int) -> dict[str, Any]:
        """Where a token looked in a layer: every head H S; and all tokens in one head, or in the mean of all, N S.

        Without a decoder a token looks from the middle of the frames that say it.
        """
        _, piece, look = self._look(sound, number)
        if layer >= len(self.layers):
            raise ValueError(f"layer {layer} does not exist; there are {len(self.layers)}, from 0")
        if token >= len(piece.tokens):
            count = len(piece.tokens)
            raise Refused("place", "there is no token {place}; the text has {count}", place=token, count=count)
        names = [f"{one.name}.weights" for one in self.layers]  # all of them: a pass takes long, and is kept
        weights = self._traces.values(look, names)[names[layer]]
        if head is not None and head >= len(weights):
            raise ValueError(f"head {head} does not exist; there are {len(weights)}, from 0")
        rows = self._rows(piece)
        shown = weights[:, :, : self._states(piece)]
        some = shown.mean(dim=0) if head is None else shown[head]
        return {
            "layer": self.layers[layer].name,
            "weights": pack(shown[:, rows[token]]),
            "map": pack(some[rows]),
            "beyond": pack(1 - shown[:, rows[token]].sum(dim=-1)),  # what falls on silence behind the piece
        }

    # --- inside ------------------------------------------------------------------------------------------------------

    def _look(self, sound: str, number: int) -> tuple[HeardRecording, HeardPiece, SoundLook]:
        heard = self._kept.get(sound)
        if number >= len(heard.pieces):
            raise ValueError(f"piece {number} does not exist; there are {len(heard.pieces)}, from 0")
        piece = heard.pieces[number]
        frames = frames_of(heard.samples[piece.start : piece.end], self.transcriber.facts)[None]
        ids = torch.tensor([[*piece.prompt, *piece.tokens]]) if piece.prompt else None
        return heard, piece, SoundLook(f"{sound}/{number}", frames, ids)

    def _spelled(self, ids: Sequence[int]) -> list[Token]:
        """Tokens as a person reads them; marks of time, which no vocabulary has to list, as their seconds."""
        reader = self.transcriber.reader
        marks = reader.marks() if isinstance(reader, WhisperReader) else None
        tokens = spell(self.transcriber.tokenizer, ids)
        for token in tokens:
            if marks is not None and token["id"] >= marks.first:
                token["text"], token["kind"] = f"<{marks.seconds(token['id']):.2f}>", "special"
        return tokens

    def _rows(self, piece: HeardPiece) -> list[int]:
        """Where each token looks from: the place before its own, which foretells it, or the middle of its frames."""
        if piece.prompt:
            return [len(piece.prompt) - 1 + place for place in range(len(piece.tokens))]
        return [(first + last) // 2 for first, last in piece.spans]

    def _states(self, piece: HeardPiece) -> int:
        """How many states stand for the piece and its margins, without what it was filled up with."""
        facts = self.transcriber.facts
        margins = 0 if facts.fill else 2 * round(facts.margin * facts.sample_rate)
        samples = piece.end - piece.start + margins
        frames = max(samples, facts.window) if facts.reads == "samples" else -(-samples // facts.hop)
        return states_for(frames, facts)

    def _labels(self, heard: HeardRecording, piece: HeardPiece) -> dict[str, Any] | None:
        """The probability of the labels that matter, V S: nothing first, then those of the text and the strongest."""
        reader = self.transcriber.reader
        if not isinstance(reader, PiecewiseReader) or not isinstance(reader.writer, FrameLabelWriter):
            return None
        writer = reader.writer
        with self._turns.mine():
            [log_probs] = writer.log_probs([heard.samples[piece.start : piece.end]])
        shares = torch.from_numpy(log_probs).exp()
        wanted = self._matter(shares, piece.tokens, writer.blank)
        names = ["" if one == writer.blank else spell(writer.tokenizer, [one])[0]["text"] for one in wanted]
        return {"names": names, "shares": pack(shares[:, wanted].mT)}

    def _matter(self, shares: Tensor, tokens: Sequence[int], blank: int) -> list[int]:
        strongest = shares.amax(dim=0).argsort(descending=True).tolist()
        ordered = dict.fromkeys([blank, *tokens, *strongest])
        return list(ordered)[:MOST_LABELS]
