"""Which pieces begin a word, by their spelling alone: for hiding whole words, and for counting by words.

A word is a run of letters and digits. Every other sign is a word of its own, and so is every Chinese or Japanese
character, because nothing shows where words end. The space before a word belongs to it.
"""

import numpy as np
from numpy.typing import NDArray

from clearformer.text.assemble import CONTINUES
from clearformer.text.scripts import script_of
from clearformer.text.tokenizer import Tokenizer

SPACES = str.maketrans({"Ġ": " ", "▁": " "})  # how GPT-2's and SentencePiece's vocabularies spell a space


class WordStarts:
    """Made once for a vocabulary; then called with rows of its ids."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        special = set(tokenizer.special_ids.values())
        size = tokenizer.vocab_size
        self._glued = np.zeros(size, dtype=bool)  # continues the piece before it, if that can be continued
        self._open = np.zeros(size, dtype=bool)  # can be continued
        self._blank, self._spaced = (
            np.zeros(size, dtype=bool),
            np.zeros(size, dtype=bool),
        )  # is a space; begins with one
        self._spaced[sorted(special)] = True
        for number in set(range(size)) - special if tokenizer.kind != "word" else ():
            piece = _spelling(tokenizer, number)
            if tokenizer.kind == "wordpiece":
                self._glued[number], self._open[number] = piece.startswith(CONTINUES), True
                continue
            self._glued[number], self._open[number] = _is_part_of_word(piece[:1]), _is_part_of_word(piece[-1:])
            self._blank[number], self._spaced[number] = piece.isspace(), piece[:1].isspace()

    def __call__(self, ids: NDArray[np.integer]) -> NDArray[np.bool_]:
        """True where a word begins; the first of a row always does."""
        before, here = ids[:-1], ids[1:]
        continues = (self._glued[here] & self._open[before]) | (self._blank[before] & ~self._spaced[here])
        return np.concatenate([np.ones(min(1, len(ids)), dtype=bool), ~continues])


def _spelling(tokenizer: Tokenizer, number: int) -> str:
    try:
        piece = tokenizer.piece(number)
    except KeyError:  # an id that no piece has
        return ""
    if len(piece) == 6 and piece.startswith("<0x"):
        return "x"  # a byte of a character that has no piece: most of them are letters
    return piece.translate(SPACES)


def _is_part_of_word(character: str) -> bool:
    return character.isalnum() and script_of(character) != "Han/Kana"
