"""Where in a text the answer to a question stands, or that the text does not say."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from clearformer.folder.bundle import Bundle
from clearformer.inference.answer_windows import AskedWindows, ContextWindow, cut_windows
from clearformer.inference.attribution import Explanation
from clearformer.inference.explained_reading import explain_answer
from clearformer.inference.reading_settings import AnswerConfig, WhyConfig
from clearformer.inference.text_readers import Reader


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A passage of the context, or "" where the text does not say. score: the logarithm of its probability.

    context: which of several contexts has it, from 0.
    """

    text: str
    score: float
    start: int
    end: int
    context: int = 0

    @property
    def probability(self) -> float:
        return math.exp(self.score)


@dataclass(frozen=True, kw_only=True)
class ReadContext:
    """A context and what the model says of its passages.

    places: where each piece stands in the context. band: for each piece and each length of a passage that begins there,
    logits measured against "no answer", or else against the whole window. N L.
    """

    text: str
    places: tuple[tuple[int, int], ...]
    band: Tensor

    def passage(self, first: int, last: int, score: float, context: int = 0) -> Answer:
        """From the first to the last piece, without blanks around it."""
        begin, end = self.places[first][0], self.places[last][1]
        text = self.text[begin:end]
        begin, end = begin + len(text) - len(text.lstrip()), end - len(text) + len(text.rstrip())
        return Answer(text=self.text[begin:end], score=score, start=begin, end=end, context=context)


class Answerer(Reader):
    """Where in a context the answer to a question stands.

    A model that was trained here has learned to point to its first token where a window lacks the answer. A passage's
    score is then the logarithm of its probability among all passages of all windows, and of all contexts, and "no
    answer". Of other models nobody knows what the first token says: the score is the passage's probability within its
    own window.
    """

    def __init__(self, bundle: Bundle) -> None:
        super().__init__(bundle, "span")
        self.overlap = bundle.preprocessing.types == "overlap"
        self.may_decline = bundle.provenance.get("no_answer") is True
        self.temperature = bundle.preprocessing.outcome.temperature

    def answer(
        self, question: str, context: str | Sequence[str], config: AnswerConfig | None = None, **changes: Any
    ) -> Answer:
        """The best passage of at most `longest` tokens; a long context is read in windows that overlap by half. Of
        several contexts, the best passage of all.
        """
        if isinstance(context, str):
            return self.answer_all([(question, context)], config, **changes)[0]
        options = replace(config or AnswerConfig(), **changes)
        if not context:
            raise ValueError("there is no context to look for an answer in; give one at least")
        return self.choose(list(self.read([(question, one) for one in context], options)), options)

    def answer_all(
        self, asked: Sequence[tuple[str, str]], config: AnswerConfig | None = None, **changes: Any
    ) -> list[Answer]:
        """The answer to each question about its context, in order."""
        options = replace(config or AnswerConfig(), **changes)
        return [self.choose([one], options) for one in self.read(asked, options)]

    def likeliest(
        self, asked: Sequence[tuple[str, str]], config: AnswerConfig | None = None, *, most: int = 10, **changes: Any
    ) -> Iterator[list[Answer]]:
        """For each question the most probable passages of its context, the best first; then, of a model that may
        decline, "no answer" as an empty one.
        """
        options = replace(config or AnswerConfig(), **changes)
        for one in self.read(asked, options):
            total = float(torch.logaddexp(one.band.logsumexp((0, 1)), torch.zeros(()))) if self.may_decline else 0.0
            best = one.band.flatten().topk(min(most, int(one.band.isfinite().sum())))
            places = [divmod(place, one.band.size(1)) for place in best.indices.tolist()]
            found = [
                one.passage(first, first + more, score - total)
                for (first, more), score in zip(places, best.values.tolist(), strict=True)
            ]
            yield [*found, *([Answer(text="", score=-total, start=0, end=0)] if self.may_decline else [])]

    def read(self, asked: Sequence[tuple[str, str]], options: AnswerConfig) -> Iterator[ReadContext]:
        """What the model says of the passages of each question's context, in order."""
        for start in range(0, len(asked), options.batch):
            part = asked[start : start + options.batch]
            cut = [self.cut(*one) for one in part]
            read = self.window_logits([window for one in cut for window in one.windows], options.batch)
            for (_, context), one in zip(part, cut, strict=True):
                yield ReadContext(text=context, places=one.places, band=self._odds(one, read, options.longest))

    def cut(self, question: str, context: str) -> AskedWindows:
        """The windows that the model reads."""
        if not question.strip():
            raise ValueError("the question is empty; say what is asked")
        return cut_windows(self.tokenizer, question, context, self.longest, overlap=self.overlap)

    def why(
        self, question: str, context: str, found: Answer, config: WhyConfig | None = None, **changes: Any
    ) -> Explanation:
        """How much each word of question and context counted for an answer that was found."""
        return explain_answer(self, question, context, found, replace(config or WhyConfig(), **changes))

    def against(self, logits: Tensor) -> Tensor:
        """What a passage's two logits are measured against within their window: "no answer", or else all of it."""
        return logits[0].sum() if self.may_decline else logits.logsumexp(0).sum()

    def window_logits(self, windows: Sequence[ContextWindow], batch: int) -> Iterator[Tensor]:
        """For each window the logits of its tokens: T 2."""
        for start in range(0, len(windows), batch):
            part = windows[start : start + batch]
            extra = {}
            if self.bundle.config.embedding.types > 1:
                extra["types"] = self.rectangle([window.types for window in part], pad=0).tokens
            logits = self.run([window.ids for window in part], **extra).float() / self.temperature
            yield from (row[: len(window.ids)] for row, window in zip(logits, part, strict=True))

    def _odds(self, asked: AskedWindows, read: Iterator[Tensor], longest: int) -> Tensor:
        """A `ReadContext`'s band. A passage in two windows counts where it is likelier. N L."""
        real = torch.tensor([start < end for start, end in asked.places], dtype=torch.bool)
        if not bool(real.any()):
            raise ValueError("the context has no words to answer with")
        band = torch.full((len(asked.places), min(longest, len(asked.places))), -torch.inf)
        for window, logits in zip(asked.windows, read, strict=False):  # what is left belongs to the next question
            base = self.against(logits)
            rows = slice(window.begin, window.begin + window.width)
            inner = logits[window.lead : window.lead + window.width].masked_fill(~real[rows, None], -torch.inf)
            ends = torch.nn.functional.pad(inner[:, 1], (0, band.size(1) - 1), value=-torch.inf)
            spans = inner[:, :1] + ends.unfold(0, band.size(1), 1) - base
            band[rows] = torch.maximum(band[rows], spans)
        return band

    def choose(self, read: Sequence[ReadContext], options: AnswerConfig) -> Answer:
        """The best passage of all contexts, or none."""
        total = torch.zeros(())  # of the logarithm of everything that the best passage competes with
        bests = [float(one.band.max()) for one in read]
        which = max(range(len(read)), key=bests.__getitem__)
        best, one = bests[which], read[which]
        if self.may_decline:
            total = torch.stack([other.band.logsumexp((0, 1)) for other in read]).logsumexp(0)
            if options.no_answer:
                total = torch.logaddexp(total, torch.zeros(()))
                if best < 0:
                    return Answer(text="", score=-float(total), start=0, end=0)
        first, more = divmod(int(one.band.argmax()), one.band.size(1))
        return one.passage(first, first + more, best - float(total), which)
