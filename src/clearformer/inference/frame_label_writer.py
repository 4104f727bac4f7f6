"""An encoder that labels each frame of a recording, in use: the text of each piece and the moment of each word."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from clearformer.decoding.frame_labels import LogProbs, Spelled, align, best_path, prefix_beam
from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import SoundFacts
from clearformer.inference.sound_frames import Sound, frames_of, stack_frames
from clearformer.inference.transcript import SpokenWord
from clearformer.inference.transcription_settings import TranscriptionConfig
from clearformer.inference.written_piece import WrittenPiece, words_of


class FrameLabelWriter:
    """Every frame says a token or nothing; nothing is said by the vocabulary's padding."""

    def __init__(self, bundle: Bundle, facts: SoundFacts) -> None:
        self.model: Any = bundle.model.eval()
        self.facts = facts
        self.tokenizer = bundle.preprocessing.sides[1]
        self.blank = self.tokenizer.pad_id

    def write(self, sounds: Sequence[Sound], config: TranscriptionConfig) -> list[WrittenPiece]:
        """The text of each piece."""
        return [
            self._read(sound, log_probs, config)
            for sound, log_probs in zip(sounds, self.log_probs(sounds), strict=True)
        ]

    @torch.inference_mode()
    def log_probs(self, sounds: Sequence[Sound]) -> list[LogProbs]:
        """T V for each piece: what each of its frames says."""
        batch = stack_frames([frames_of(sound, self.facts) for sound in sounds])
        memory = self.model.encode(batch.frames, keep=batch.keep)
        logits = self.model.head(memory.states, memory.keep).float().log_softmax(-1)
        return [row[: int(keep.sum())].numpy() for row, keep in zip(logits, memory.keep, strict=True)]

    def _read(self, sound: Sound, log_probs: LogProbs, config: TranscriptionConfig) -> WrittenPiece:
        found: Spelled
        if config.beam == 1:
            found = best_path(log_probs, self.blank)
        else:
            found = prefix_beam(log_probs, self.blank, config.beam)
        spans = align(log_probs, found.tokens, self.blank)
        step = self.facts.step / self.facts.sample_rate  # seconds per state
        margin = 0.0 if self.facts.fill else self.facts.margin
        last = len(sound) / self.facts.sample_rate
        starts = np.clip([first * step - margin for first, _ in spans], 0, last)
        ends = np.clip([(end + 1) * step - margin for _, end in spans], 0, last)
        words: tuple[SpokenWord, ...] = words_of(self.tokenizer, found.tokens, list(starts), list(ends))
        return WrittenPiece(
            text=self.tokenizer.decode(found.tokens).strip(),
            log_prob=found.log_prob,
            words=words,
            tokens=found.tokens,
            spans=tuple(spans),
        )
