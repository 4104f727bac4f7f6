"""Sound in, text out: a Whisper-style model folder in use, for recordings that fit its window."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import SoundFacts
from clearformer.inference.generation_settings import GenerationConfig
from clearformer.inference.predictor import describe
from clearformer.inference.wrong_use import wrong_use
from clearformer.model.mel import log_mel

START, PLAIN, END = "<|startoftranscript|>", "<|notimestamps|>", "<|endoftext|>"
Sound = NDArray[np.floating[Any]]


@dataclass(frozen=True, kw_only=True)
class Transcript:
    """What was said."""

    text: str
    log_prob: float


class Transcriber:
    """An encoder–decoder over mel frames, with its vocabulary."""

    def __init__(self, bundle: Bundle) -> None:
        if bundle.config.front.kind != "sound" or bundle.config.head.kind != "language-model":
            raise ValueError(wrong_use(bundle.config, "transcription"))
        self.bundle = bundle
        self.model: Any = bundle.model.eval()
        self.facts = bundle.preprocessing.sound or SoundFacts(mels=bundle.config.front.mels)

    def transcribe(
        self, sounds: Sound | Sequence[Sound], config: GenerationConfig | None = None, **changes: Any
    ) -> list[Transcript]:
        """The text of each recording: samples between -1 and 1 at the model's rate, one channel."""
        chosen = replace(config or GenerationConfig(), **changes)
        if chosen != GenerationConfig(max_new=chosen.max_new, seed=chosen.seed):
            raise ValueError("a transcript takes the likeliest token each time; leave all settings but max_new out")
        given = [sounds] if isinstance(sounds, np.ndarray) else list(sounds)
        return [self._one(sound, chosen) for sound in given]

    @torch.inference_mode()
    def _one(self, sound: Sound, config: GenerationConfig) -> Transcript:
        tokenizer = self.bundle.preprocessing.sides[1]
        end = tokenizer.id(END)
        tokens = torch.tensor([[tokenizer.id(START), tokenizer.id(PLAIN)]])
        memory = self.model.encode(self.frames(sound))
        cache = self.model.start_cache()
        written: list[int] = []
        total = 0.0
        room = min(config.max_new, self.bundle.config.max_len - tokens.size(1))
        while len(written) < room:
            logits: Tensor = self.model.decode(tokens, memory, cache=cache)[0, -1]
            logits[end + 1 :] = -torch.inf  # marks of time, language and task are not said
            scores = logits.log_softmax(-1)
            best = int(scores.argmax())
            total += float(scores[best])
            if best == end:
                break
            written.append(best)
            tokens = torch.tensor([[best]])
        return Transcript(text=tokenizer.decode(written).strip(), log_prob=total)

    def frames(self, sound: Sound) -> Tensor:
        """Mel frames of a recording, filled up with silence to the model's window: 1 T mels."""
        facts = self.facts
        if sound.ndim != 1:
            raise ValueError(
                f"a recording has one channel here, not shape {sound.shape}; take the mean of its channels"
            )
        room = round(facts.seconds * facts.sample_rate)
        if len(sound) > room:
            seconds = len(sound) / facts.sample_rate
            raise ValueError(f"a recording of {seconds:.1f} s does not fit the model's {facts.seconds:g} s; cut it")
        filled = torch.zeros(1, room)
        filled[0, : len(sound)] = torch.from_numpy(np.ascontiguousarray(sound, dtype=np.float32))
        return log_mel(filled, rate=facts.sample_rate, mels=facts.mels, window=facts.window, hop=facts.hop)

    def __repr__(self) -> str:
        return describe(self, f"sound at {self.facts.sample_rate} Hz, up to {self.facts.seconds:g} s")
