"""Pictures and texts as vectors of one space, and the label texts that fit a picture: labels that nobody trained.

N pictures, C texts, W numbers in a vector.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from clearformer.data.readers.pictures import Pixels
from clearformer.folder.bundle import Bundle
from clearformer.foundation.progress import OnProgress, unwatched
from clearformer.inference.picture_classifier import Picture, as_square, as_tensor, usual_facts
from clearformer.inference.predictor import describe
from clearformer.inference.reading_network import ReadingNetwork
from clearformer.inference.reading_settings import ClassConfig, MatchConfig, VectorConfig
from clearformer.inference.text_readers import Classification
from clearformer.inference.wrong_use import wrong_use
from clearformer.model.pair import ContrastivePair
from clearformer.text.tokenizer import Tokenizer
from clearformer.text.unusable import UnusableTextError

NO_LABELS = "this model has no classes of its own, so it has to be told the labels to choose from"


class PictureMatcher:
    """A network of texts and one of pictures, whose vectors are near where a text describes a picture."""

    def __init__(self, bundle: Bundle) -> None:
        if not isinstance(bundle.model, ContrastivePair):
            raise ValueError(wrong_use(bundle.config, "picture-matching", bundle.task))
        self.bundle, self.model = bundle, bundle.model.eval()
        self._pair = bundle.model
        self._texts, self._pictures = ReadingNetwork(self._pair.texts), ReadingNetwork(self._pair.pictures)
        self.facts = bundle.preprocessing.picture or usual_facts(bundle.config.of_pictures.front)
        self.longest = bundle.config.of_texts.max_len
        self.filled = bundle.config.of_texts.head.pool == "slot"  # rows of one length, as in training

    @property
    def tokenizer(self) -> Tokenizer:
        """The vocabulary of the texts."""
        return self.bundle.preprocessing.sides[0]

    def embed(
        self,
        texts: str | Sequence[str],
        config: VectorConfig | None = None,
        *,
        on_progress: OnProgress = unwatched,
        **changes: Any,
    ) -> Tensor:
        """One row per text, each of length one. C W. A text that the model cannot read whole is refused."""
        chosen = replace(config or VectorConfig(), **changes)
        given = [texts] if isinstance(texts, str) else list(texts)
        if not all(isinstance(text, str) for text in given):
            raise TypeError("texts are embedded by embed, and pictures by embed_pictures; call that one")
        if chosen.prompt is not None:
            raise ValueError(f"this model has no prompt named {chosen.prompt!r}; it has none")
        rows = self.rows(given)
        order = sorted(range(len(rows)), key=lambda number: len(rows[number]))  # like lengths need little padding
        found = torch.zeros(len(rows), self.bundle.config.of_texts.vector_width)
        for start in range(0, len(order), chosen.batch):
            numbers = order[start : start + chosen.batch]
            found[numbers] = self._text_vectors([rows[number] for number in numbers])
            on_progress(start + len(numbers), len(order))
        return found

    def embed_pictures(
        self,
        pictures: Picture | Sequence[Picture],
        config: VectorConfig | None = None,
        *,
        on_progress: OnProgress = unwatched,
        **changes: Any,
    ) -> Tensor:
        """One row per picture (a file name, or bytes as height, width, channels), each of length one. N W."""
        batch = replace(config or VectorConfig(), **changes).batch
        given = [pictures] if isinstance(pictures, str | Path | np.ndarray) else list(pictures)
        found = [torch.zeros(0, self.bundle.config.of_pictures.vector_width)]
        for start in range(0, len(given), batch):
            found.append(self.picture_vectors(self.numbers(given[start : start + batch])))
            on_progress(min(start + batch, len(given)), len(given))
        return torch.cat(found)

    def classify(
        self,
        pictures: Picture | Sequence[Picture],
        labels: Sequence[str] = (),
        config: MatchConfig | None = None,
        **changes: Any,
    ) -> list[Classification]:
        """The label text that fits each picture best, with the probability of every label. In order."""
        chosen = replace(config or MatchConfig(), **changes)
        return self.among(labels or chosen.labels).classify(pictures, chosen)

    def among(self, labels: Sequence[str]) -> "PictureLabeller":
        """A classifier of these labels, whose vectors are computed once."""
        return PictureLabeller(self, labels)

    def rows(self, texts: Sequence[str]) -> list[list[int]]:
        """Texts as ids; one that is empty, too long, or spells a special token is refused by its number."""
        marks = self.tokenizer.marks()
        for number, text in enumerate(texts, start=1):
            if not text.strip():
                raise UnusableTextError(number, "is empty: there is nothing to embed; remove it")
            if (spelt := next((mark for mark in marks if mark in text), None)) is not None:
                raise UnusableTextError(number, f"spells {spelt}, a token with a meaning of its own; remove it")
        try:
            found = [list(one.ids) for one in self.tokenizer.encode_batch(list(texts))]
        except ValueError as error:
            raise UnusableTextError(1, f"or one behind it cannot be read: {error}") from error
        for number, row in enumerate(found, start=1):
            if len(row) > self.longest:
                raise UnusableTextError(
                    number, f"has {len(row)} tokens, and the model reads {self.longest}; shorten it"
                )
        return found

    def read(self, picture: Picture) -> Pixels:
        """A picture as the model's square of bytes."""
        return as_square(picture, self.facts)

    def numbers(self, pictures: Sequence[Picture]) -> Tensor:
        """Pictures as the network reads them: N C Y X."""
        inputs = as_tensor([self.read(picture) for picture in pictures], self.facts)
        return inputs.to(next(self.model.parameters()).device)

    @torch.inference_mode()
    def picture_vectors(self, inputs: Tensor) -> Tensor:
        """Of pictures as the network reads them: N W, each of length one."""
        return torch.nn.functional.normalize(self._pictures(inputs).float(), dim=-1).cpu()

    @torch.inference_mode()
    def compare(self, pictures: Tensor, texts: Tensor) -> Tensor:
        """How probable it is that each text belongs to each picture, by their vectors: N C."""
        device = next(self.model.parameters()).device
        return self._pair.probabilities(self._pair.compare(pictures.to(device), texts.to(device))).cpu()

    @torch.inference_mode()
    def _text_vectors(self, rows: Sequence[list[int]]) -> Tensor:
        """Behind its end a text is filled up with what cannot be seen from there; or, in rows of one length, with what
        is read like everything else. Neither way needs a mask."""
        pad = self.tokenizer.special_ids.get("pad", 0)
        width = self.longest if self.filled else max(map(len, rows))
        tokens = torch.tensor([row + [pad] * (width - len(row)) for row in rows])
        found = self._texts(tokens.to(next(self.model.parameters()).device))
        return torch.nn.functional.normalize(found.float(), dim=-1).cpu()

    def __repr__(self) -> str:
        return describe(self, f"pictures of {self.facts.size} × {self.facts.size}, texts of {self.longest} tokens")


class PictureLabeller:
    """One of some labels for each picture, by a model that matches pictures with texts."""

    def __init__(self, matcher: PictureMatcher, labels: Sequence[str]) -> None:
        if isinstance(labels, str):
            raise ValueError(f"labels is a list of texts, not the text {labels[:60]!r}; put it in brackets")
        self.matcher, self.labels = matcher, tuple(labels)
        if not self.labels:
            raise ValueError(f"{NO_LABELS}; give them as labels, a text for each")
        if (twice := next((one for one in self.labels if self.labels.count(one) > 1), None)) is not None:
            raise ValueError(f"the label {twice!r} is given twice; leave one out")
        pair = matcher.bundle.config.pair
        if len(self.labels) == 1 and pair is not None and not pair.each:
            raise ValueError(
                "labels compete with this model, so a single one would fit every picture; give two or more"
            )
        try:
            self._vectors = matcher.embed(list(self.labels))
        except UnusableTextError as error:
            raise ValueError(f"label {error.number} {error.reason}") from error

    def classify(
        self, pictures: Picture | Sequence[Picture], config: ClassConfig | None = None, **changes: Any
    ) -> list[Classification]:
        """The label of each picture: a file name, or bytes as height, width, channels. In order."""
        chosen = replace(config or ClassConfig(), **changes)
        given = [pictures] if isinstance(pictures, str | Path | np.ndarray) else list(pictures)
        results: list[Classification] = []
        for start in range(0, len(given), chosen.batch):
            for row in self.probabilities(given[start : start + chosen.batch], flips=chosen.flips).tolist():
                best = max(range(len(row)), key=row.__getitem__)
                scores = dict(zip(self.labels, row, strict=True))
                results.append(Classification(label=self.labels[best], probability=row[best], scores=scores))
        return results

    def probabilities(self, pictures: Sequence[Picture], *, flips: bool = False) -> Tensor:
        """The probability of every label for each picture: N C. flips: the mean with those of its mirror image."""
        inputs = self.matcher.numbers(pictures)
        found = self.matcher.compare(self.matcher.picture_vectors(inputs), self._vectors)
        if flips:
            mirrored = self.matcher.picture_vectors(inputs.flip(-1))
            found = (found + self.matcher.compare(mirrored, self._vectors)) / 2
        return found

    def read(self, picture: Picture) -> Pixels:
        """A picture as the model's square of bytes."""
        return self.matcher.read(picture)
