"""The fast engine in the place of a Whisper-style network: windows in, tokens and the moments of tokens out.

CTranslate2 has the published rules of time marks and the lists of tokens that are never written. At temperature 0 it
writes what the PyTorch network writes; what is drawn at higher ones is drawn by its own generator.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from clearformer.folder.bundle import Bundle
from clearformer.folder.description import ModelFolder
from clearformer.folder.preprocessing import SoundFacts
from clearformer.foundation import settings
from clearformer.inference.engine_network import CLOSED
from clearformer.inference.time_marks import LATEST_START, STEP
from clearformer.inference.window_writer import Asked, SpeechWindow, WrittenWindow, compression
from clearformer.model.config import ModelConfig
from clearformer.text.tokenizer import Tokenizer


class SpeechEngine(nn.Module):
    """`EncoderDecoder` over mel frames, run by CTranslate2. T frames, N tokens."""

    def __init__(self, folder: ModelFolder, tokenizer: Tokenizer, facts: SoundFacts, places: int) -> None:
        super().__init__()
        import ctranslate2

        self.tokenizer, self.facts, self.places = tokenizer, facts, places
        self._view = ctranslate2.StorageView.from_array
        threads = torch.get_num_threads()
        self._engine: Any = ctranslate2.models.Whisper(str(folder.path), device="cpu", intra_threads=threads)

    @property
    def encoder(self) -> nn.Module:
        """Whoever wants to look inside a network asks for its encoder, or traces it."""
        raise ValueError(CLOSED)

    def write(self, windows: Sequence[SpeechWindow], asked: Asked) -> list[WrittenWindow]:
        """The text of each window."""
        room = min(asked.max_new, self.places - len(windows[0].prompt))
        drawn = {"sampling_topk": 0, "sampling_temperature": asked.temperature} if asked.temperature else {}
        found = self._engine.generate(
            self._frames([one.frames for one in windows]),
            [list(one.prompt) for one in windows],
            beam_size=1,
            max_length=room + len(windows[0].prompt),
            return_scores=True,
            return_no_speech_prob=True,
            suppress_blank=bool(self.facts.never_first),
            suppress_tokens=list(asked.limits.never),
            max_initial_timestamp_index=round(LATEST_START / STEP),
            **drawn,
        )
        return [self._written(one, asked) for one in found]

    def likeliest(self, frames: Sequence[Tensor], among: Sequence[int]) -> list[int]:
        """The language of each window, as the engine finds it."""
        found = self._engine.detect_language(self._frames(frames))
        order = [[self.tokenizer.id(mark) for mark, _ in one] for one in found]
        return [next(mark for mark in one if mark in among) for one in order]

    def times(self, frames: Tensor, prompt: Sequence[int], tokens: Sequence[int], seconds: float) -> list[float]:
        """N + 1 moments in seconds, by the engine's own warping of the same heads."""
        count = min(len(frames), round(seconds * self.facts.sample_rate / self.facts.hop))
        [found] = self._engine.align(self._frames([frames]), list(prompt), [list(tokens)], max(2, count))
        step = 2 * self.facts.hop / self.facts.sample_rate
        first: dict[int, float] = {}
        for token, frame in found.alignments:
            first.setdefault(int(token), float(frame * step))
        moments = [first.get(place, seconds) for place in range(len(tokens) + 1)]
        return np.maximum.accumulate(moments).tolist()  # type: ignore[no-any-return]

    def _frames(self, rows: Sequence[Tensor]) -> Any:
        return self._view(np.ascontiguousarray(torch.stack(list(rows)).mT.numpy()))

    def _written(self, found: Any, asked: Asked) -> WrittenWindow:
        end = asked.limits.end
        tokens = tuple(token for token in found.sequences_ids[0] if token != end)
        counted = len(tokens) + 1  # the engine's score is a mean over tokens, without the end among them
        words = [token for token in tokens if token < end]
        return WrittenWindow(
            tokens=tokens,
            log_prob=float(found.scores[0]) * max(len(tokens), 1),
            counted=counted,
            silence=float(found.no_speech_prob),
            compression=compression(self.tokenizer.decode(words).strip() or "-"),
        )


def speech_bundle(folder: ModelFolder) -> Bundle:
    """A folder that `to_ctranslate2` made of a Whisper-style model."""
    config = settings.parse(ModelConfig, folder.description.model, str(folder.path / "config.json"))
    read = folder.preprocessing
    facts = read.sound or SoundFacts(mels=config.front.mels)
    folder.verify()
    return Bundle(
        config=config,
        model=SpeechEngine(folder, read.sides[1], facts, config.max_len),
        task=folder.description.task,
        preprocessing=read,
        provenance=dict(folder.provenance),
    )
