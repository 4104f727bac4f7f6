"""What models that only read say about a text: its class, a tag for each word, its answer span, its embedding.

One class per head, all over the same reading of texts into padded rectangles.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from clearformer.data.entity_tags import parts
from clearformer.data.word_pieces import WordPieces, markers, text_pieces, word_pieces
from clearformer.folder.bundle import Bundle
from clearformer.inference.answer_windows import AskedWindows, ContextWindow, cut_windows
from clearformer.inference.legal_tags import LegalTags
from clearformer.inference.predictor import describe
from clearformer.inference.reading_settings import AnswerConfig, ReadingConfig
from clearformer.inference.steppers import SourceBatch, pad_sources
from clearformer.inference.wrong_use import wrong_use
from clearformer.text.tokenizer import Encoding, Tokenizer
from clearformer.text.unusable import UnusableTextError
from clearformer.text.word_spans import word_spans

TextOrPair = str | tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Classification:
    """A text's class. scores: the probability of every class by name."""

    label: str
    probability: float
    scores: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class Tag:
    """A word's tag. start, end: where the word stands in the text."""

    word: str
    label: str
    probability: float
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Entity:
    """A name in a text. kind: its type; probability: among all legal taggings, of those with just this entity."""

    text: str
    kind: str
    probability: float
    start: int
    end: int


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

    def run_all(self, rows: Sequence[Sequence[int]], batch: int) -> list[Tensor]:
        """What the head says of each row, in order; like lengths are read together, so that little is padded."""
        order = sorted(range(len(rows)), key=lambda number: len(rows[number]))
        found: dict[int, Tensor] = {}
        for start in range(0, len(rows), batch):
            numbers = order[start : start + batch]
            found |= zip(numbers, self.run([rows[number] for number in numbers]), strict=True)
        return [found[number] for number in range(len(rows))]

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
        read = [logits.softmax(-1) for logits in self.run_all(rows, batch)]
        shares = iter(torch.split(torch.stack(read), [len(parts) for parts in windows]) if rows else ())
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


class Tagger(Reader):
    """A tag for each word; a word has the tag of its first piece, as such models are trained."""

    def __init__(self, bundle: Bundle) -> None:
        super().__init__(bundle, "tags")
        self.legal = LegalTags(self.labels)
        self.shapes = bundle.preprocessing.shapes
        self.split = bundle.provenance.get("words")  # how words were split in training; None: a model from elsewhere

    def tag(self, text: str) -> list[Tag]:
        """The words of a text with their tags."""
        if self.split is not None:
            return self._tag_words_of(text)
        [found] = self.encode([text])
        probabilities = self.run([found.ids])[0].softmax(-1)
        tags: list[Tag] = []
        for place, (start, end) in enumerate(found.offsets):
            if start == end:
                continue  # a marker, not a piece of the text
            begin = start + len(text[start:end]) - len(text[start:end].lstrip())
            if tags and begin == tags[-1].end and not text[begin:end].isspace() and _inside_word(text, begin):
                tags[-1] = _longer(tags[-1], text, end)
                continue
            best = probabilities[place].max(-1)
            label = self.labels[int(best.indices)]
            tags.append(Tag(word=text[begin:end], label=label, probability=float(best.values), start=begin, end=end))
        return tags

    def tag_words(
        self, sentences: Sequence[Sequence[str]], config: ReadingConfig | None = None, **changes: Any
    ) -> list[list[str]]:
        """The best legal tags of sentences whose words are split already."""
        batch = replace(config or ReadingConfig(), **changes).batch
        read = self._scores([word_pieces(self.tokenizer, words, shapes=self.shapes) for words in sentences], batch)
        return [[self.labels[number] for number in self.legal.best(scores)] for scores in read]

    def entities(self, text: str) -> list[Entity]:
        """The entities of a text in order, with their places in it; a long text is read in windows."""
        if not any(label != "O" and parts(label) is not None for label in self.labels):
            raise ValueError(f"this model's tags ({', '.join(self.labels[:4])}) mark no entities; use `tag`")
        words, scores = self._read(text)
        found = self.legal.entities(scores, self.legal.best(scores))
        places = [(words[span.start][0], words[span.end - 1][1]) for span, _ in found]
        return [
            Entity(text=text[start:end], kind=span.kind, probability=probability, start=start, end=end)
            for (span, probability), (start, end) in zip(found, places, strict=True)
        ]

    def _tag_words_of(self, text: str) -> list[Tag]:
        words, scores = self._read(text)
        best = self.legal.best(scores)
        return [
            Tag(word=text[a:b], label=self.labels[one], probability=math.exp(row[one]), start=a, end=b)
            for (a, b), one, row in zip(words, best, scores.tolist(), strict=True)
        ]

    def _read(self, text: str) -> tuple[list[tuple[int, int]], NDArray[np.float64]]:
        """Where the words of a text stand, and how probable each tag is for each of them."""
        words = word_spans(text, characters=self.split == "characters")
        if self.split is not None:
            pieces = word_pieces(self.tokenizer, [text[start:end] for start, end in words], shapes=self.shapes)
        else:  # whoever trained it let the tokenizer see the whole text, spaces and all
            words, pieces = text_pieces(self.tokenizer, text, words)
        [scores] = self._scores([pieces], batch=32)
        return words, scores

    def _scores(self, sentences: Sequence[WordPieces], batch: int) -> list[NDArray[np.float64]]:
        """Logarithms of the probability of each tag for each word, from the window that shows most around the word."""
        before, after = markers(self.tokenizer)
        room = self.longest - len(before) - len(after)
        windows = [
            (number, start)
            for number, pieces in enumerate(sentences)
            for start in range(0, max(1, len(pieces.ids) - room // 2), max(1, room // 2))
            if pieces.ids
        ]
        windows.sort(key=lambda one: min(room, len(sentences[one[0]].ids) - one[1]))  # like lengths need little padding
        made = [np.empty((len(pieces.first), len(self.labels))) for pieces in sentences]
        seen = [np.full(len(pieces.first), -1) for pieces in sentences]  # pieces to the nearer edge of the window
        for begin in range(0, len(windows), batch):
            group = windows[begin : begin + batch]
            rows = [[*before, *sentences[number].ids[start : start + room], *after] for number, start in group]
            extra = {}
            if self.shapes:
                types = [[0] * len(before) + sentences[number].types[start : start + room] for number, start in group]
                extra["types"] = self.rectangle([[*row, *[0] * len(after)] for row in types], pad=0).tokens
            read = self.run(rows, **extra).float().log_softmax(-1).double().numpy()
            for (number, start), row in zip(group, read, strict=True):
                first, size = np.array(sentences[number].first), len(sentences[number].ids)
                around = _around(first, start, min(start + room, size), size)
                mine = around > seen[number]
                made[number][mine] = row[first[mine] - start + len(before)]
                seen[number][mine] = around[mine]
        return made


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


def _around(places: NDArray[np.int64], start: int, end: int, size: int) -> NDArray[np.int64]:
    """How many pieces a window shows on the poorer side of each place; the edges of the text itself take nothing away.
    -1: the place is not in the window.
    """
    left = places - start if start else np.full_like(places, size)
    right = end - 1 - places if end < size else np.full_like(places, size)
    return np.where((places >= start) & (places < end), np.minimum(left, right), -1)


def _inside_word(text: str, place: int) -> bool:
    """Whether a piece goes on with the word before it: letters on both sides of its beginning."""
    return place > 0 and text[place - 1].isalnum() and text[place].isalnum()


def _longer(tag: Tag, text: str, end: int) -> Tag:
    return Tag(word=text[tag.start : end], label=tag.label, probability=tag.probability, start=tag.start, end=end)
