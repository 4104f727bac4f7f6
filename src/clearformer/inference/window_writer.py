"""The text of a window of speech, token by token: the likeliest each time, or drawn at a temperature.

R rows, V vocabulary, T frames.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from clearformer.decoding.protocol import Stepper
from clearformer.folder.bundle import Bundle
from clearformer.inference.steppers import SourceBatch, stepper_for
from clearformer.inference.time_marks import TimeMarks
from clearformer.text.tokenizer import Tokenizer


@dataclass(frozen=True, kw_only=True)
class SpeechWindow:
    """Some seconds of a recording. prompt: what the model is shown before it writes. begin: the first sample; what is
    drawn depends on it, and not on what else is read at the same time."""

    frames: Tensor  # T mels
    prompt: tuple[int, ...]
    begin: int


@dataclass(frozen=True, kw_only=True)
class TokenLimits:
    """Which tokens may be written. end: the token that ends a text; words are below it, marks above."""

    end: int
    never: tuple[int, ...] = ()
    never_first: tuple[int, ...] = ()
    marks: TimeMarks | None = None

    def restrict(self, logits: Tensor, written: Sequence[int]) -> Tensor:
        """Logits of the next token, V, with what may not follow at minus infinity."""
        logits = logits.clone()
        if self.never:
            logits[list(self.never)] = -torch.inf
        if self.never_first and not written:
            logits[list(self.never_first)] = -torch.inf
        if self.marks is not None:
            return self.marks.restrict(logits, written)
        logits[self.end + 1 :] = -torch.inf  # marks of time, language and task are not said
        return logits


@dataclass(frozen=True, kw_only=True)
class Asked:
    """How windows are written."""

    limits: TokenLimits
    temperature: float
    max_new: int
    seed: int


@dataclass(frozen=True, kw_only=True)
class WrittenWindow:
    """What was written for a window: tokens without the end, their log-probability with it, and how many counted.

    silence: how probable it is that nobody speaks. compression: how many times shorter the text is when packed; a text
    that goes round in circles packs well.
    """

    tokens: tuple[int, ...]
    log_prob: float
    counted: int
    silence: float
    compression: float

    @property
    def mean(self) -> float:
        """Log-probability per token."""
        return self.log_prob / max(self.counted, 1)


def compression(text: str) -> float:
    """Bytes of a text, divided by those that are left when it is packed."""
    content = text.encode("utf-8")
    return len(content) / len(zlib.compress(content))


class TorchWindowWriter:
    """The same network that was trained or imported, several windows at a time."""

    def __init__(self, bundle: Bundle, *, start: int, silence: int | None) -> None:
        self.tokenizer: Tokenizer = bundle.preprocessing.sides[1]
        self.places = bundle.config.max_len
        self.start, self.silence = start, silence
        self.stepper: Stepper[Any] = stepper_for(bundle.model.eval(), bos=start)

    @torch.inference_mode()
    def write(self, windows: Sequence[SpeechWindow], asked: Asked) -> list[WrittenWindow]:
        """The text of each window."""
        prompts = [one.prompt for one in windows]  # of one length: with texts before, windows come one by one
        room = min(asked.max_new, self.places - len(prompts[0]))
        frames = torch.stack([one.frames for one in windows])
        keep = torch.ones(frames.shape[:2], dtype=torch.bool)
        rows = [_Row(asked, one, self.tokenizer) for one in windows]
        _, state = self.stepper.start(SourceBatch(frames, keep))
        for tokens in zip(*prompts, strict=True):
            logits, state = self.stepper.step(torch.tensor(tokens), state)
            if tokens[0] == self.start and self.silence is not None:  # told at the first mark, whatever follows
                for row, chance in zip(rows, logits.float().softmax(-1)[:, self.silence].tolist(), strict=True):
                    row.silence = chance
        active = list(range(len(rows)))
        for _ in range(room):
            for place, said in zip(active, logits, strict=True):
                rows[place].choose(said.float())
            left = [place for place, row in enumerate(active) if not rows[row].ended]
            if not left:
                break
            if len(left) < len(active):
                state = state.select(torch.tensor(left))
            active = [active[place] for place in left]
            logits, state = self.stepper.step(torch.tensor([rows[place].tokens[-1] for place in active]), state)
        return [row.written() for row in rows]

    @torch.inference_mode()
    def likeliest(self, frames: Sequence[Tensor], among: Sequence[int]) -> list[int]:
        """Which of these marks the model puts behind its first one, for each window."""
        batch = torch.stack(list(frames))
        _, state = self.stepper.start(SourceBatch(batch, torch.ones(batch.shape[:2], dtype=torch.bool)))
        logits, _ = self.stepper.step(torch.full((len(batch),), self.start), state)
        return [among[int(best)] for best in logits[:, list(among)].argmax(-1)]


class _Row:
    """One window while it is written."""

    def __init__(self, asked: Asked, window: SpeechWindow, tokenizer: Tokenizer) -> None:
        self.asked, self.tokenizer = asked, tokenizer
        self.tokens: list[int] = []
        self.total, self.silence, self.ended = 0.0, 0.0, False
        self.random = torch.Generator().manual_seed(
            hash((asked.seed, window.begin, round(10 * asked.temperature))) % 2**62
        )

    def choose(self, logits: Tensor) -> None:
        """Take the next token. Its log-probability is the model's own, at temperature 1, among what may follow."""
        scores = self.asked.limits.restrict(logits, self.tokens).log_softmax(-1)
        if self.asked.temperature:
            chances = (scores / self.asked.temperature).softmax(-1)
            best = int(torch.multinomial(chances, 1, generator=self.random))
        else:
            best = int(scores.argmax())
        self.total += float(scores[best])
        if best == self.asked.limits.end:
            self.ended = True
        else:
            self.tokens.append(best)

    def written(self) -> WrittenWindow:
        words = [token for token in self.tokens if token < self.asked.limits.end]
        return WrittenWindow(
            tokens=tuple(self.tokens),
            log_prob=self.total,
            counted=len(self.tokens) + self.ended,
            silence=self.silence,
            compression=compression(self.tokenizer.decode(words).strip() or "-"),
        )
