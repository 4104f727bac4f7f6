"""A text whose words are shaded by their scores, with the number under each: one paragraph per method."""

import json
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from clearformer.figures.palette import INK, ink_on, shade
from clearformer.figures.sheet import HEADER, LETTER, Table, box, rectangle, sheet, words

WIDTH, MARGIN = 860.0, 20.0
LINE, HIGH = 46.0, 24.0  # from one line of words to the next; a word's box
SIZE = 15.0  # of the words
LEGEND = 40  # steps of the colour legend, each 4 wide


@dataclass(frozen=True, kw_only=True)
class ShadedWord:
    """spaced: whether a space stands before it in the text. opens: whether a part of the input begins with it."""

    text: str
    score: float
    spaced: bool = True
    opens: bool = False


@dataclass(frozen=True, kw_only=True)
class ShadedText:
    """What one method says. notes: lines under the title; apart: tokens that are no words; signed: both sides of zero
    occur.
    """

    title: str
    notes: Sequence[str]
    words: Sequence[ShadedWord]
    apart: Sequence[ShadedWord]
    signed: bool

    @property
    def limit(self) -> float:
        """What the darkest colour stands for: the largest score of a word."""
        return max((abs(word.score) for word in self.words), default=0.0) or 1.0

    def colour(self, score: float) -> str:
        """The background of a word."""
        return shade(score / self.limit, signed=self.signed)

    def number(self, score: float) -> str:
        """A score as it is written."""
        small = abs(score) < 0.005  # nothing, from neither side
        return f"{score:+.2f}" if self.signed and not small else f"{abs(score):.2f}"


@dataclass(frozen=True, kw_only=True)
class WordShades:
    """Paragraphs under one another."""

    texts: Sequence[ShadedText]

    def csv(self) -> str:
        """One line per word, with every digit."""
        rows = [
            (text.title, kind, one.text, one.score)
            for text in self.texts
            for kind, group in (("word", text.words), ("marker", text.apart))
            for one in group
        ]
        return Table(("method", "kind", "text", "score"), rows).csv()

    def json(self) -> str:
        """The same, nested."""
        plain = [
            {
                "title": text.title,
                "notes": list(text.notes),
                "words": [{"text": one.text, "score": one.score} for one in text.words],
                "markers": [{"text": one.text, "score": one.score} for one in text.apart],
            }
            for text in self.texts
        ]
        return json.dumps({"figures": plain}, ensure_ascii=False, indent=1)

    def svg(self, title: str) -> str:
        """The whole sheet."""
        parts: list[str] = []
        y = HEADER
        for text in self.texts:
            drawn = list(_paragraph(text, y))
            parts += [part for part, _ in drawn]
            y = max(bottom for _, bottom in drawn) + 34
        return sheet(WIDTH, y, title, parts)


def _paragraph(text: ShadedText, y: float) -> Iterator[tuple[str, float]]:
    """Everything that is drawn for one text, each thing with where it ends below."""
    yield words(MARGIN, y + 16, text.title, size=13, fill=INK), y + 16
    y += 16
    for note in text.notes:
        y += 18
        yield words(MARGIN, y, note), y
    y += 12
    for row in _lines([*text.words]):
        for x, word in row:
            yield from _word(text, word, x, y)
        y += LINE
    for row in _lines([*text.apart]):
        for x, word in row:
            yield box(x, y, _wide(word), HIGH), y + HIGH
            yield words(x + _wide(word) / 2, y + 16, word.text, "middle"), y
            yield words(x + _wide(word) / 2, y + 36, text.number(word.score), "middle", size=10), y + 36
        y += LINE
    shares = [(2 * step / LEGEND - 1) if text.signed else step / LEGEND for step in range(LEGEND)]
    for step, share in enumerate(shares):
        yield rectangle(MARGIN + 4 * step, y, 4.5, 8, shade(share, signed=text.signed)), y
    yield words(MARGIN, y + 22, text.number(-text.limit if text.signed else 0.0), size=11), y + 22
    yield words(MARGIN + 4 * LEGEND, y + 22, text.number(text.limit), "end", size=11), y + 22


def _word(text: ShadedText, word: ShadedWord, x: float, y: float) -> Iterator[tuple[str, float]]:
    wide, colour = _wide(word), text.colour(word.score)
    yield rectangle(x, y, round(wide, 1), HIGH, colour), y + HIGH
    yield words(x + wide / 2, y + 17, word.text, "middle", size=SIZE, fill=ink_on(colour)), y
    yield words(x + wide / 2, y + 36, text.number(word.score), "middle", size=10), y + 36


def _lines(given: Sequence[ShadedWord]) -> Iterator[list[tuple[float, ShadedWord]]]:
    """Words with their places, broken into lines."""
    row: list[tuple[float, ShadedWord]] = []
    x = MARGIN
    for word in given:
        x += 8.0 if word.spaced and row else 2.0 if row else 0.0
        if row and (word.opens or x + _wide(word) > WIDTH - MARGIN):
            yield row
            row, x = [], MARGIN
        row.append((x, word))
        x += _wide(word)
    if row:
        yield row


def _wide(word: ShadedWord) -> float:
    """The width of a box: of the word, or of the number under it."""
    letters = sum(2.0 if unicodedata.east_asian_width(letter) in "WF" else 1.2 for letter in word.text)
    return max(32.0, letters * LETTER * SIZE / 12 + 6)
