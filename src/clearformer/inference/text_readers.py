"""Models that read a text as a whole: what all readers share, and its class or its embedding.

`word_tagger` and `answer_finder` have the readers whose answers stand somewhere in the text.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from clearformer.folder.bundle import Bundle
from clearformer.inference.predictor import describe
from clearformer.inference.reading_settings import ReadingConfig
from clearformer.inference.steppers import SourceBatch, pad_sources
from clearformer.inference.wrong_use import wrong_use
from clearformer.text.tokenizer import Encoding, Tokenizer
from clearformer.text.unusable import UnusableTextError

TextOrPair = str | tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Classification:
    """A text's class. scores: the probability of every class by name."""

    label: str
    probability: float
    scores: dict[str, float]


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

    def rectangle(self, rows: Sequence[Sequence[int]]) -> SourceBatch:
        """Rows of ids as one batch."""
        return pad_sources([list(row) for row in rows], self.tokenizer.special_ids.get("pad", 0))

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
    """One class for each text."""

    def __init__(self, bundle: Bundle) -> None:
        super().__init__(bundle, "class")

    def classify(
        self, texts: str | Sequence[TextOrPair], config: ReadingConfig | None = None, **changes: Any
    ) -> list[Classification]:
        """The class of each text, or pair of texts, in order. A text that does not fit is read in windows, whose
        probabilities are averaged.
        """
        batch = replace(config or ReadingConfig(), **changes).batch
        given: list[TextOrPair] = [texts] if isinstance(texts, str) else list(texts)
        windows = [self._windows(number, one) for number, one in enumerate(given, start=1)]
        rows = [row for parts in windows for row in parts]
        read = [self.run(rows[start : start + batch]).softmax(-1) for start in range(0, len(rows), batch)]
        shares = iter(torch.split(torch.cat(read), [len(parts) for parts in windows]) if rows else ())
        return [self._classification(next(shares).mean(dim=0).tolist()) for _ in given]

    def _classification(self, row: list[float]) -> Classification:
        best = max(range(len(row)), key=row.__getitem__)
        scores = dict(zip(self.labels, row, strict=True))
        return Classification(label=self.labels[best], probability=row[best], scores=scores)

    def _windows(self, number: int, given: TextOrPair) -> list[list[int]]:
        """The ids of a text, or of its overlapping parts where it is longer than the model reads."""
        if not isinstance(given, str):
            ids = list(self.tokenizer.encode_pair(*given).ids)
            if len(ids) > self.longest:
                raise UnusableTextError(
                    number, f"has {len(ids)} tokens, and the model reads {self.longest}; shorten it"
                )
            return [ids]
        ids = list(self.tokenizer.encode(given).ids)
        if not ids:
            raise UnusableTextError(number, "is empty")
        if len(ids) <= self.longest:
            return [ids]
        inner = list(self.tokenizer.encode(given, add_special=False).ids)
        around = len(ids) - len(inner)
        before = ids[: ids.index(inner[0])] if around else []
        after = ids[len(before) + len(inner) :]
        room = self.longest - around
        starts = range(0, max(1, len(inner) - room // 2), room // 2)
        return [[*before, *inner[start : start + room], *after] for start in starts]


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
