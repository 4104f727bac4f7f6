"""Sound in, text out: a model folder in use, whichever way its network writes."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import SoundFacts
from clearformer.foundation.progress import OnProgress, unwatched
from clearformer.inference.frame_label_writer import FrameLabelWriter
from clearformer.inference.piecewise_reader import PiecewiseReader
from clearformer.inference.predictor import describe
from clearformer.inference.sound_frames import Sound, check_channels, frames_of
from clearformer.inference.sound_token_writer import SoundTokenWriter
from clearformer.inference.speech_engine import SpeechEngine
from clearformer.inference.spoken_times import AttentionTimer
from clearformer.inference.transcript import OnPiece, Transcript, unheard
from clearformer.inference.transcription_settings import TranscriptionConfig
from clearformer.inference.whisper_reader import START, WhisperReader, has_whispers_marks, silence_mark
from clearformer.inference.window_writer import TorchWindowWriter
from clearformer.inference.wrong_use import wrong_use


class RecordingReader(Protocol):
    """A way to read recordings of any length."""

    def read(
        self,
        sounds: Sequence[Sound],
        config: TranscriptionConfig,
        on_progress: OnProgress = unwatched,
        on_piece: OnPiece = unheard,
    ) -> list[Transcript]: ...


class Transcriber:
    """A network over mel frames, or over samples, with its vocabulary."""

    def __init__(self, bundle: Bundle) -> None:
        if bundle.config.front.kind not in ("sound", "samples") or bundle.config.head.kind != "language-model":
            raise ValueError(wrong_use(bundle.config, "transcription", bundle.task))
        self.bundle = bundle
        self.facts = bundle.preprocessing.sound or SoundFacts(mels=bundle.config.front.mels)
        self.tokenizer = bundle.preprocessing.sides[1]
        self.reader = self._reader()

    @property
    def model(self) -> Any:
        """The network, for `trace`."""
        return self.bundle.model

    def _reader(self) -> RecordingReader:
        """An encoder alone labels frames; of those that write tokens, Whisper's vocabulary has marks of its own."""
        if self.bundle.config.shape == "encoder":
            return PiecewiseReader(FrameLabelWriter(self.bundle, self.facts), self.facts)
        if has_whispers_marks(self.tokenizer):
            engine = self.bundle.model
            if isinstance(engine, SpeechEngine):
                return WhisperReader(self.bundle, self.facts, engine, lambda: engine)
            start = self.tokenizer.id(START)
            return WhisperReader(
                self.bundle,
                self.facts,
                TorchWindowWriter(self.bundle, start=start, silence=silence_mark(self.tokenizer)),
                lambda: AttentionTimer(self.bundle, self.facts),
            )
        return PiecewiseReader(SoundTokenWriter(self.bundle, self.facts), self.facts)

    def transcribe(
        self,
        sounds: Sound | Sequence[Sound],
        config: TranscriptionConfig | None = None,
        *,
        on_progress: OnProgress = unwatched,
        on_piece: OnPiece = unheard,
        **changes: Any,
    ) -> list[Transcript]:
        """The text of each recording: samples between -1 and 1 at the model's rate, one channel.

        on_progress: hears the samples that were read, and how many there are. on_piece: hears what was read at once,
        and the tokens that were written of it.
        """
        chosen = replace(config or TranscriptionConfig(), **changes)
        self._check(chosen)
        given = [sounds] if isinstance(sounds, np.ndarray) else list(sounds)
        for sound in given:
            check_channels(sound)
        with torch.inference_mode():
            return self.reader.read(given, chosen, on_progress, on_piece)

    def _check(self, config: TranscriptionConfig) -> None:
        """Refuse to tell a model what it cannot hear."""
        known = self.facts.tongues
        if config.language is not None and config.language not in known:
            said = f"it knows {', '.join(known)}" if known else "it is told of no language"
            raise ValueError(f"this model cannot be told that {config.language!r} is spoken; {said}")
        if config.translate and not known:
            raise ValueError("this model knows one language, so it translates nothing; leave translate out")

    def frames(self, sound: Sound) -> Tensor:
        """Mel frames of a recording that is no longer than the model's window: 1 T mels."""
        return frames_of(sound, self.facts)[None]

    def __repr__(self) -> str:
        return describe(self, f"sound at {self.facts.sample_rate} Hz, up to {self.facts.seconds:g} s at a time")
