"""Sets of characters: set algebra, and a spelling in UTF-8 that is exact for every character."""

from random import Random

import pytest

from clearformer.decoding.constraints.character_sets import EVERY, LAST, Characters

EDGES = [0, 1, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x3FFFF, 0x40000, LAST]


def spelt(characters, data):
    return any(
        len(data) == len(sequence)
        and all(low <= byte <= high for byte, (low, high) in zip(data, sequence, strict=True))
        for sequence in characters.utf8
    )


@pytest.mark.parametrize("seed", range(40))
def test_a_range_is_spelt_by_exactly_its_characters(seed):
    """At random ranges, near their ends and near where a character begins to take another byte."""
    random = Random(seed)
    low, high = sorted(random.choice([*EDGES, random.randrange(LAST)]) + random.randrange(-3, 4) for _ in range(2))
    wanted = Characters.between((max(low, 0), min(high, LAST))) & EVERY
    near = {edge + step for edge in (*EDGES, low, high) for step in range(-70, 71)}
    for number in near | {random.randrange(LAST) for _ in range(200)}:
        if 0 <= number <= LAST and not 0xD800 <= number <= 0xDFFF:
            assert spelt(wanted, chr(number).encode()) == (low <= number <= high), hex(number)


def test_all_characters_take_few_sequences():
    assert len(EVERY.utf8) < 12


def test_sets_behave_as_sets():
    random = Random(1)
    for _ in range(100):
        one, other = ({random.randrange(30) for _ in range(random.randrange(20))} for _ in range(2))
        a, b = (Characters.of("".join(map(chr, numbers))) for numbers in (one, other))
        for found, expected in ((a | b, one | other), (a & b, one & other), (a - b, one - other)):
            assert {number for number in range(40) if chr(number) in found} == expected
        assert {number for number in range(40) if chr(number) in ~a} == set(range(40)) - one
        assert bool(a) == bool(one)


def test_half_a_pair_is_no_character():
    assert not Characters.between((0xD800, 0xDFFF)) & EVERY
    assert not ~EVERY
