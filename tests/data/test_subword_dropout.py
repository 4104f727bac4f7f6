"""Pieces are split at random, the text stays the same, and a run that is resumed reads the same pieces."""

import numpy as np
import pytest

from clearformer.data.subword_dropout import WHOLE, SubwordDropout, halves_table, split_pieces
from clearformer.text.tokenizer import Tokenizer
from clearformer.text.train_tokenizer import train

TEXTS = ["the little dog runs through the field", "a dog and a little girl run", "the girl reads in the field"] * 9


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return train("bpe", TEXTS, 400)


def rows(tokenizer: Tokenizer) -> list[tuple[np.ndarray, np.ndarray]]:
    ids = [np.array(row, dtype=np.uint16) for row in tokenizer.ids(TEXTS, add_special=False)]
    return list(zip(ids, reversed(ids), strict=True))


def test_the_text_stays_the_same_and_the_pieces_do_not(tokenizer: Tokenizer) -> None:
    splitting = SubwordDropout(tokenizer, tokenizer, rate=0.3, longest=256)
    before = rows(tokenizer)
    after = splitting.read(before, seed=(1, 2, 0))
    assert sum(len(x) for x, _ in after) > sum(len(x) for x, _ in before)
    for old, new in zip(before, after, strict=True):
        for ids, split in zip(old, new, strict=True):
            assert tokenizer.decode(split.tolist()) == tokenizer.decode(ids.tolist())


def test_what_is_read_depends_on_the_place_alone(tokenizer: Tokenizer) -> None:
    given = rows(tokenizer)

    def lengths(seed: tuple[int, ...]) -> list[list[int]]:
        read = SubwordDropout(tokenizer, tokenizer, rate=0.3, longest=256).read(given, seed=seed)
        return [x.tolist() for x, _ in read]

    assert lengths((1, 5, 0)) == lengths((1, 5, 0))
    assert lengths((1, 5, 0)) != lengths((1, 6, 0))
    assert lengths((1, 5, 0)) != lengths((1, 5, 1))


def test_every_part_was_on_the_way_to_the_piece(tokenizer: Tokenizer) -> None:
    table = halves_table(tokenizer)
    for piece, (left, right) in enumerate(table.tolist()):
        if left != WHOLE:
            assert tokenizer.piece(left) + tokenizer.piece(right) == tokenizer.piece(piece)


def test_the_chance_is_the_one_asked_for(tokenizer: Tokenizer) -> None:
    piece = tokenizer.id(" dog")
    table = halves_table(tokenizer)
    assert table[piece, 0] != WHOLE
    random = np.random.default_rng(0)
    whole = sum(len(split_pieces(np.array([piece]), table, 0.2, random)) == 1 for _ in range(4000))
    assert whole / 4000 == pytest.approx(0.8, abs=0.03)  # five standard deviations


def test_parts_are_split_again(tokenizer: Tokenizer) -> None:
    piece, table = tokenizer.id(" field"), halves_table(tokenizer)
    split = split_pieces(np.array([piece]), table, 0.999999, np.random.default_rng(0))
    assert "".join(tokenizer.piece(int(part)) for part in split) == " field"
    assert all(table[part, 0] == WHOLE for part in split)


def test_no_chance_changes_nothing_and_asks_nothing_of_the_vocabulary() -> None:
    letters = train("character", TEXTS)
    given = rows(letters)
    assert SubwordDropout(letters, letters, rate=0.0, longest=256).read(given, seed=(0,)) is given
    with pytest.raises(ValueError, match="only the pieces of a bpe vocabulary"):
        SubwordDropout(letters, letters, rate=0.1, longest=256)


def test_what_would_be_too_long_stays_as_it_was(tokenizer: Tokenizer) -> None:
    given = rows(tokenizer)
    longest = max(len(x) for x, _ in given) + 1  # the end token
    read = SubwordDropout(tokenizer, tokenizer, rate=0.9, longest=longest).read(given, seed=(0,))
    assert all(len(x) + 1 <= longest for x, _ in read)
