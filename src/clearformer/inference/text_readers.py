"""Models that read a text as a whole: what all readers share, and its class or its embedding.

`word_tagger` and `answer_finder` have the readers whose answers stand somewhere in the text.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from clearformer.folder.bundle import Bundle
from clearformer.folder.preprocessing import Outcome, VectorFacts
from clearformer.foundation.progress import OnProgress, unwatched
from clearformer.inference.attribution import Explanation
from clearformer.inference.explained_reading import NUMBER, explain_class
from clearformer.inference.piece_windows import all_pieces, piece_windows
from clearformer.inference.predictor import describe
from clearformer.inference.reading_network import ReadingNetwork
from clearformer.inference.reading_settings import ClassConfig, ReadingConfig, VectorConfig, WhyClassConfig
from clearformer.inference.steppers import SourceBatch, pad_sources
from clearformer.inference.text_windows import CutText, TextOrPair, cut_text
from clearformer.inference.wrong_use import wrong_use
from clearformer.model.heads import POOLS
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
            raise ValueError(wrong_use(bundle.config, kind, bundle.task))
        self.bundle, self.model = bundle, bundle.model.eval()
        self._reading = ReadingNetwork(self.model)
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
        return pad_sources([list(row) for row in rows], filler, block=1)  # nothing is searched: last bits may differ

    @torch.inference_mode()
    def run(self, rows: Sequence[Sequence[int]], types: Tensor | None = None) -> Tensor:
        """What the head says of each row. types: of their tokens, as `rectangle` gives them."""
        source = self.rectangle(rows)
        return self._reading(source.tokens, source.keep, types)

    def run_all(
        self, rows: Sequence[Sequence[int]], batch: int, types: Sequence[Sequence[int]] | None = None
    ) -> list[Tensor]:
        """What the head says of each row, in order; like lengths are read together, so that little is padded."""
        order = sorted(range(len(rows)), key=lambda number: len(rows[number]))
        found: dict[int, Tensor] = {}
        for start in range(0, len(rows), batch):
            numbers = order[start : start + batch]
            told = None if types is None else self.rectangle([types[number] for number in numbers], pad=0).tokens
            found |= zip(numbers, self.run([rows[number] for number in numbers], told), strict=True)
        return [found[number] for number in range(len(rows))]

    def __repr__(self) -> str:
        return describe(self, f"reads {self.longest} tokens")


class Classifier(Reader):
    """For each text one class, several, or a number: the folder says which. A text that does not fit is read in
    windows, over which probabilities and numbers are averaged.
    """

    def __init__(self, bundle: Bundle) -> None:
        super().__init__(bundle, "class")
        self.outcome = bundle.preprocessing.outcome
        self.typed = bundle.config.embedding.types > 1  # whether it is told which of two texts a token is of

    def classify(
        self, texts: str | Sequence[TextOrPair], config: ClassConfig | None = None, **changes: Any
    ) -> list[Classification]:
        """The class, or classes, of each text or pair of texts, in order."""
        if self.outcome.kind == "number":
            raise ValueError("this model gives a number to each text and no class; use `estimate`")
        chosen = replace(config or ClassConfig(), **changes)
        return [self._classification(row) for row in self.results(texts, chosen)]

    def estimate(
        self, texts: str | Sequence[TextOrPair], config: ReadingConfig | None = None, **changes: Any
    ) -> list[Estimate]:
        """The number of each text or pair of texts, in order, in the unit of the training data."""
        if self.outcome.kind != "number":
            raise ValueError(f"this model knows classes ({', '.join(self.labels[:4])}) and no numbers; use `classify`")
        return [Estimate(number=row[0]) for row in self.results(texts, config, **changes)]

    def results(
        self, texts: str | Sequence[TextOrPair], config: ReadingConfig | None = None, **changes: Any
    ) -> list[list[float]]:
        """For each text the probability of each label, or its number in the unit of the training data."""
        return [result_of(one, self.outcome) for one in self.logits(texts, config, **changes)]

    def logits(
        self, texts: str | Sequence[TextOrPair], config: ReadingConfig | None = None, **changes: Any
    ) -> list[Tensor]:
        """What the head says of each text, by windows: W C."""
        batch = replace(config or ReadingConfig(), **changes).batch
        given: list[TextOrPair] = [texts] if isinstance(texts, str) else list(texts)
        windows = [self.cut(one, number).windows for number, one in enumerate(given, start=1)]
        rows = [window for parts in windows for window in parts]
        typed = self.typed and any(window.types is not None for window in rows)
        types = [window.types or [0] * len(window.ids) for window in rows] if typed else None
        read = [logits.float() for logits in self.run_all([window.ids for window in rows], batch, types)]
        return list(torch.split(torch.stack(read), [len(parts) for parts in windows])) if rows else []

    def cut(self, given: TextOrPair, number: int = 1) -> CutText:
        """A text or a pair in the windows that this model reads."""
        overlap = self.bundle.preprocessing.types == "overlap"
        return cut_text(self.tokenizer, given, self.longest, number, overlap=overlap)

    def _classification(self, row: list[float]) -> Classification:
        best = max(range(len(row)), key=row.__getitem__)
        scores = dict(zip(self.labels, row, strict=True))
        several = self.outcome.kind == "several"
        enough = tuple(label for label, share in scores.items() if share >= self.outcome.threshold) if several else None
        return Classification(label=self.labels[best], probability=row[best], scores=scores, labels=enough)

    def why(
        self, texts: str | Sequence[TextOrPair], config: WhyClassConfig | None = None, **changes: Any
    ) -> list[Explanation]:
        """How much each word of each text counted for its class, for the one that `of` names, or for its number."""
        options = replace(config or WhyClassConfig(), **changes)
        given: list[TextOrPair] = [texts] if isinstance(texts, str) else list(texts)
        numbers = self.outcome.kind == "number"
        found = [NUMBER] * len(given) if numbers else [one.label for one in self.classify(given, batch=options.batch)]
        return [
            explain_class(self, one, said, options, number)
            for number, (one, said) in enumerate(zip(given, found, strict=True), start=1)
        ]


def likely(logits: Tensor, outcome: Outcome) -> Tensor:
    """The probability of every class, averaged over windows: W C -> C."""
    scaled = logits / outcome.temperature
    return (scaled.sigmoid() if outcome.kind == "several" else scaled.softmax(-1)).mean(dim=0)


def result_of(logits: Tensor, outcome: Outcome) -> list[float]:
    """What the windows of a text say together: the probability of each label, or a number. logits: W C."""
    if outcome.squashed:
        return [float(logits.sigmoid().mean())]
    if outcome.kind == "number":
        return [outcome.mean + outcome.deviation * float(logits.mean())]
    return [float(share) for share in likely(logits, outcome)]


class Embedder(Reader):
    """Texts as vectors whose products say how near they are: their states as one vector, of length one."""

    def __init__(self, bundle: Bundle) -> None:
        super().__init__(bundle, "states")
        self.facts = bundle.preprocessing.vectors or VectorFacts()
        self.longest = min(self.longest, self.facts.longest or self.longest)

    def embed(
        self,
        texts: str | Sequence[str],
        config: VectorConfig | None = None,
        *,
        on_progress: OnProgress = unwatched,
        **changes: Any,
    ) -> Tensor:
        """One row per text, each of length one. N D.

        A text that does not fit is read in overlapping windows: the mean of their vectors, weighted by their lengths.
        """
        chosen = replace(config or VectorConfig(), **changes)
        before = self.prompt(chosen.prompt)
        given = [texts] if isinstance(texts, str) else list(texts)
        windows = [self._windows(number, one, before) for number, one in enumerate(given, start=1)]
        rows = [(owner, row) for owner, parts in enumerate(windows) for row in parts]
        rows.sort(key=lambda one: len(one[1]))  # like lengths need little padding
        sums = torch.zeros(len(given), self.bundle.config.dim)
        for start in range(0, len(rows), chosen.batch):
            part = rows[start : start + chosen.batch]
            weights = torch.tensor([len(row) if len(windows[owner]) > 1 else 1 for owner, row in part])
            pooled = self._pooled([row for _, row in part]).float() * weights[:, None]
            sums.index_add_(0, torch.tensor([owner for owner, _ in part]), pooled)
            on_progress(start + len(part), len(rows))
        return torch.nn.functional.normalize(sums, dim=-1)

    def prompt(self, name: str | None) -> str:
        """What this model wants before a text that is for `name`; without a name, the usual one if there is one."""
        name = self.facts.usual_prompt if name is None else name
        if name is None:
            return ""
        if name not in self.facts.prompts:
            known = ", ".join(self.facts.prompts) or "none"
            raise ValueError(f"this model has no prompt named {name!r}; it has {known}")
        return self.facts.prompts[name]

    def purpose(self, *names: str) -> str | None:
        """The first of these names for which the model has a prompt of its own."""
        return next((name for name in names if name in self.facts.prompts), None)

    @torch.inference_mode()
    def _pooled(self, rows: Sequence[Sequence[int]]) -> Tensor:
        """One vector per row, without its padding. B D."""
        source = self.rectangle(rows)
        tokens, keep = source.tokens[:, : self.longest], source.keep[:, : self.longest]
        pooled: Tensor = POOLS[self.facts.pool](0)(self._reading.states(tokens, keep), keep)
        return pooled

    def _windows(self, number: int, text: str, before: str) -> list[list[int]]:
        try:
            pieces = all_pieces(self.tokenizer, text)
            pieces = all_pieces(self.tokenizer, before + text) if pieces and before else pieces
        except ValueError as error:
            raise UnusableTextError(number, f"cannot be read: {error}") from error
        if not pieces:
            raise UnusableTextError(number, "is empty: there is nothing to embed; remove it")
        return piece_windows(self.tokenizer, pieces, self.longest)
