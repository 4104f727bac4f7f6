"""A tag for each word of a text, and the entities that such tags mark, with their places and probabilities."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clearformer.data.entity_tags import parts
from clearformer.data.word_pieces import WordPieces, markers, text_pieces, word_pieces
from clearformer.folder.bundle import Bundle
from clearformer.inference.legal_tags import LegalTags
from clearformer.inference.reading_settings import ReadingConfig
from clearformer.inference.text_readers import Reader
from clearformer.text.word_spans import word_spans


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


class Tagger(Reader):
    """A tag for each word; a word has the tag of its first piece, as such models are trained."""

    def __init__(self, bundle: Bundle) -> None:
        super().__init__(bundle, "tags")
        self.legal = LegalTags(self.labels)
        self.shapes = bundle.preprocessing.types == "shapes"
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
        read = self.read_words(sentences, replace(config or ReadingConfig(), **changes))
        return [[self.labels[number] for number in self.legal.best(scores)] for scores in read]

    def read_words(self, sentences: Sequence[Sequence[str]], config: ReadingConfig) -> list[NDArray[np.float64]]:
        """For sentences whose words are split already, the logarithm of each tag's probability for each word: W L."""
        return self._scores(
            [word_pieces(self.tokenizer, words, shapes=self.shapes) for words in sentences], config.batch
        )

    @property
    def marks_entities(self) -> bool:
        """Whether the tags are B-, I- and so on before types of entities."""
        return any(label != "O" and parts(label) is not None for label in self.labels)

    def entities(self, text: str) -> list[Entity]:
        """The entities of a text in order, with their places in it; a long text is read in windows."""
        if not self.marks_entities:
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
