"""Where in a text the answer to a question stands, or that the text does not say."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from clearformer.folder.bundle import Bundle
from clearformer.inference.answer_windows import AskedWindows, ContextWindow, cut_windows
from clearformer.inference.reading_settings import AnswerConfig
from clearformer.inference.steppers import pad_sources
from clearformer.inference.text_readers import Reader


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A passage of the context, or "" where the text does not say. score: the logarithm of its probability."""

    text: str
    score: float
    start: int
    end: int

    @property
    def probability(self) -> float:
        return math.exp(self.score)


class Answerer(Reader):
    """Where in a context the answer to a question stands.

    A model that was trained here has learned to point to its first token where a window lacks the answer. A passage's
    score is then the logarithm of its probability among all passages of all windows and "no answer". Of other models
    nobody knows what the first token says: the score is the passage's probability within its own window.
    """

    def __init__(self, bundle: Bundle) -> None:
        super().__init__(bundle, "span")
        self.may_decline = bundle.provenance.get("no_answer") is True

    def answer(self, question: str, context: str, config: AnswerConfig | None = None, **changes: Any) -> Answer:
        """The best passage of at most `longest` tokens; a long context is read in windows that overlap by half."""
        return self.answer_all([(question, context)], config, **changes)[0]

    def answer_all(
        self, asked: Sequence[tuple[str, str]], config: AnswerConfig | None = None, **changes: Any
    ) -> list[Answer]:
        """The answer to each question about its context, in order."""
        options = replace(config or AnswerConfig(), **changes)
        found: list[Answer] = []
        for start in range(0, len(asked), options.batch):
            part = asked[start : start + options.batch]
            cut = [cut_windows(self.tokenizer, *one, self.longest) for one in part]
            read = self._read([window for one in cut for window in one.windows], options.batch)
            for (_, context), one in zip(part, cut, strict=True):
                found.append(self._choose(context, one, self._odds(one, read, options.longest), options))
        return found

    def _read(self, windows: Sequence[ContextWindow], batch: int) -> Iterator[Tensor]:
        """For each window the logits of its tokens: T 2."""
        for start in range(0, len(windows), batch):
            part = windows[start : start + batch]
            extra = {}
            if self.bundle.config.embedding.types > 1:
                extra["types"] = pad_sources([list(window.types) for window in part], 0).tokens[:, : self.longest]
            logits = self.run([window.ids for window in part], **extra).float()
            yield from (row[: len(window.ids)] for row, window in zip(logits, part, strict=True))

    def _odds(self, asked: AskedWindows, read: Iterator[Tensor], longest: int) -> Tensor:
        """For each piece of the context and each length of a passage that begins there: logits, measured against "no
        answer" in their window, or else against all of it. A passage in two windows counts where it is likelier. N L.
        """
        real = torch.tensor([start < end for start, end in asked.places], dtype=torch.bool)
        if not bool(real.any()):
            raise ValueError("the context has no words to answer with")
        band = torch.full((len(asked.places), min(longest, len(asked.places))), -torch.inf)
        for window, logits in zip(asked.windows, read, strict=False):  # what is left belongs to the next question
            base = logits[0].sum() if self.may_decline else logits.logsumexp(0).sum()
            rows = slice(window.begin, window.begin + window.width)
            inner = logits[window.lead : window.lead + window.width].masked_fill(~real[rows, None], -torch.inf)
            ends = torch.nn.functional.pad(inner[:, 1], (0, band.size(1) - 1), value=-torch.inf)
            spans = inner[:, :1] + ends.unfold(0, band.size(1), 1) - base
            band[rows] = torch.maximum(band[rows], spans)
        return band

    def _choose(self, context: str, asked: AskedWindows, band: Tensor, options: AnswerConfig) -> Answer:
        total = torch.zeros(())  # of the logarithm of everything that the best passage competes with
        best = float(band.max())
        if self.may_decline:
            total = band.logsumexp((0, 1))
            if options.no_answer:
                total = torch.logaddexp(total, torch.zeros(()))
                if best < 0:
                    return Answer(text="", score=-float(total), start=0, end=0)
        first, more = divmod(int(band.argmax()), band.size(1))
        begin, end = asked.places[first][0], asked.places[first + more][1]
        text = context[begin:end]
        begin, end = begin + len(text) - len(text.lstrip()), end - len(text) + len(text.rstrip())
        return Answer(text=context[begin:end], score=best - float(total), start=begin, end=end)
