"""Models that read a text as a whole: what all readers share, and its class or its embedding.

`word_tagger` and `answer_finder` have the readers whose answers stand somewhere in the text.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import Outcome
from clearformer.inference.attribution import Explanation
from clearformer.inference.explained_reading import explain_class
from clearformer.inference.predictor import describe
from clearformer.inference.reading_settings import ReadingConfig, WhyClassConfig
from clearformer.inference.steppers import SourceBatch, pad_sources
from clearformer.inference.text_windows import TextOrPair, cut_text
from clearformer.inference.wrong_use import wrong_use
from clearformer.text.tokenizer import Encoding, Tokenizer
from clearformer.text.unusable import UnusableTextError


@dataclass(frozen=True, kw_only=True)
class Classification:
    """A text's class. scores: the probability of every class by name.

    labels: where a text may have several, those that are probable enough; `label` is then the most probable one.
    """

    label: str
    probability: float
    scores: dict[str, float]
    labels: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """The number that a model of numbers gives to a text."""

    number: float


class Reader:
    """A model that reads, with its vocabulary: what the tasks below share."""

    def __init__(self, bundle: Bundle, kind: str) -> None:
        if bundle.config.head.kind != kind or bundle.config.front.kind != "tokens":
            raise ValueError(wrong_use(bundle.config, kind))
        self.bundle, self.model = bundle, bundle.model.eval()
        self.tokenizer: Tokenizer = bundle.preprocessing.sides[0]
        told = bundle.provenance.get("max_length")  # what training read of a text
        self.longest = min(bundle.config.max_len, told) if isinstance(told, int) and told > 1 else bundle.config.max_len
        self.labels = bundle.labels or tuple(f"LABEL_{number}" for number in range(bundle.config.head.labels))

    def encode(self, texts: Sequence[str]) -> list[Encoding]:
        """Texts with the markers that the model was trained with; one that is too long is refused by its number."""
        found = self.tokenizer.encode_batch(list(texts))
        for number, one in enumerate(found, start=1):
            if len(one) > self.longest:
                raise UnusableTextError(
                    number, f"has {len(one)} tokens, and the model reads {self.longest}; shorten it"
                )
            if not len(one):
                raise UnusableTextError(number, "is empty")
        return found

    def rectangle(self, rows: Sequence[Sequence[int]], pad: int | None = None) -> SourceBatch:
        """Rows of ids as one batch."""
        filler = self.tokenizer.special_ids.get("pad", 0) if pad is None else pad
        return pad_sources([list(row) for row in rows], filler)

    @torch.inference_mode()
    def run(self, rows: Sequence[Sequence[int]], **extra: Any) -> Tensor:
        """What the head says of each row."""
        source = self.rectangle(rows)
        tokens, keep = source.tokens[:, : self.longest], source.keep[:, : self.longest]
        output: Tensor = self.model(tokens, keep=keep, **extra)
        return output

    def __repr__(self) -> str:
        return describe(self, f"reads {self.longest} tokens")


class Classifier(Reader):
    """For each text one class, several, or a number: the folder says which. A text that does not fit is read in
    windows, over which probabilities and numbers are averaged.
    """

    def __init__(self, bundle: Bundle) -> None:
        super().__init__(bundle, "class")
        self.outcome = bundle.preprocessing.outcome

    def classify(
        self, texts: str | Sequence[TextOrPair], config: ReadingConfig | None = None, **changes: Any
    ) -> list[Classification]:
        """The class, or classes, of each text or pair of texts, in order."""
        if self.outcome.kind == "number":
            raise ValueError("this model gives a number to each text and no class; use `estimate`")
        read = self.logits(texts, config, **changes)
        return [self._classification(likely(one, self.outcome).tolist()) for one in read]

    def estimate(
        self, texts: str | Sequence[TextOrPair], config: ReadingConfig | None = None, **changes: Any
    ) -> list[Estimate]:
        """The number of each text or pair of texts, in order, in the unit of the training data."""
        if self.outcome.kind != "number":
            raise ValueError(f"this model knows classes ({', '.join(self.labels[:4])}) and no numbers; use `classify`")
        read = self.logits(texts, config, **changes)
        return [Estimate(number=self.outcome.mean + self.outcome.deviation * float(one.mean())) for one in read]

    def logits(
        self, texts: str | Sequence[TextOrPair], config: ReadingConfig | None = None, **changes: Any
    ) -> list[Tensor]:
        """What the head says of each text, by windows: W C."""
        batch = replace(config or ReadingConfig(), **changes).batch
        given: list[TextOrPair] = [texts] if isinstance(texts, str) else list(texts)
        windows = [
            cut_text(self.tokenizer, one, self.longest, number).windows for number, one in enumerate(given, start=1)
        ]
        rows = [window.ids for parts in windows for window in parts]
        read = [self.run(rows[start : start + batch]).float() for start in range(0, len(rows), batch)]
        return list(torch.split(torch.cat(read), [len(parts) for parts in windows])) if rows else []

    def _classification(self, row: list[float]) -> Classification:
        best = max(range(len(row)), key=row.__getitem__)
        scores = dict(zip(self.labels, row, strict=True))
        several = self.outcome.kind == "several"
        enough = tuple(label for label, share in scores.items() if share >= self.outcome.threshold) if several else None
        return Classification(label=self.labels[best], probability=row[best], scores=scores, labels=enough)

    def why(
        self, texts: str | Sequence[TextOrPair], config: WhyClassConfig | None = None, **changes: Any
    ) -> list[Explanation]:
        """How much each word of each text counted for its class, or for the one that `of` names."""
        options = replace(config or WhyClassConfig(), **changes)
        given: list[TextOrPair] = [texts] if isinstance(texts, str) else list(texts)
        found = self.classify(given, batch=options.batch)
        return [
            explain_class(self, one, said.label, options, number)
            for number, (one, said) in enumerate(zip(given, found, strict=True), start=1)
        ]


def likely(logits: Tensor, outcome: Outcome) -> Tensor:
    """The probability of every class, averaged over windows: W C -> C."""
    scaled = logits / outcome.temperature
    return (scaled.sigmoid() if outcome.kind == "several" else scaled.softmax(-1)).mean(dim=0)


class Embedder(Reader):
    """Texts as vectors whose products say how near they are: the mean of the states, of length one."""

    def __init__(self, bundle: Bundle) -> None:
        super().__init__(bundle, "states")

    @torch.inference_mode()
    def embed(self, texts: str | Sequence[str], config: ReadingConfig | None = None, **changes: Any) -> Tensor:
        """One row per text, each of length one. N D."""
        batch = replace(config or ReadingConfig(), **changes).batch
        found = self.encode([texts] if isinstance(texts, str) else texts)
        parts = []
        for start in range(0, len(found), batch):
            source = self.rectangle([one.ids for one in found[start : start + batch]])
            tokens, keep = source.tokens[:, : self.longest], source.keep[:, : self.longest]
            states: Tensor = self.model.encode(tokens, keep=keep).states  # type: ignore[operator]
            real = keep[..., None].to(states.dtype)
            parts.append((states * real).sum(dim=1) / real.sum(dim=1))
        return torch.nn.functional.normalize(torch.cat(parts), dim=-1)
