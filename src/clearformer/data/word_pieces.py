"""Words that are split already, as pieces of a vocabulary; the first piece of a word stands for it."""

from collections.abc import Sequence
from typing import NamedTuple

from clearformer.text.tokenizer import Tokenizer
from clearformer.text.word_shapes import SHAPES, shape_of

SEGMENTS = 2  # the first token types are BERT's two segments; what a word looks like has types of its own
SHAPE_TYPES = SEGMENTS + len(SHAPES) - 1
Spans = list[tuple[int, int]]


class WordPieces(NamedTuple):
    """The pieces of a sentence without markers, where each word's first piece stands among them, and the pieces' types.

    types: by the word's shape, if that was asked for, else zeros.
    """

    ids: list[int]
    first: list[int]
    types: list[int]


def word_pieces(tokenizer: Tokenizer, words: Sequence[str], *, shapes: bool = False) -> WordPieces:
    """Each word by itself, so that it has the same pieces wherever it stands. Every word has at least one.

    shapes: tell by the pieces' types what the word looks like.
    """
    made = WordPieces([], [], [])
    for word, pieces in zip(words, tokenizer.ids(words, add_special=False) if words else (), strict=True):
        made.first.append(len(made.ids))
        made.ids.extend(pieces or [unknown(tokenizer)])  # a vocabulary may take a lone control character for nothing
        made.types.extend([type_of(word) if shapes else 0] * (len(made.ids) - len(made.types)))
    return made


def type_of(word: str) -> int:
    """The token type that tells a word's shape; a plain word has that of all tokens."""
    shape = shape_of(word)
    return shape + SEGMENTS - 1 if shape else 0


def text_pieces(tokenizer: Tokenizer, text: str, words: Spans) -> tuple[Spans, WordPieces]:
    """A whole text, and those of its words that have a piece, with the place of the first."""
    found = tokenizer.encode(text, add_special=False)
    kept: Spans = []
    first: list[int] = []
    place = 0
    for start, end in words:
        while place < len(found) and found.offsets[place][1] <= start:
            place += 1
        if place < len(found) and found.offsets[place][0] < end:
            kept.append((start, end))
            first.append(place)
    return kept, WordPieces(list(found.ids), first, [0] * len(found))


def markers(tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """What stands before and after a text, such as [CLS] and [SEP]."""
    inner, whole = (list(tokenizer.encode("a", add_special=special).ids) for special in (False, True))
    begin = next(place for place in range(len(whole)) if whole[place : place + len(inner)] == inner)
    return whole[:begin], whole[begin + len(inner) :]


def unknown(tokenizer: Tokenizer) -> int:
    """The piece for what cannot be read."""
    known = tokenizer.special_ids
    return known.get("unk", known.get("mask", known.get("pad", 0)))
