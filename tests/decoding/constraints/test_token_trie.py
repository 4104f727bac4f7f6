"""All tokens at once: the walk of the tree is the walk of each token alone."""

from random import Random

import pytest

from clearformer.decoding.constraints.automaton import DEAD, Automaton
from clearformer.decoding.constraints.byte_network import ByteNetwork
from clearformer.decoding.constraints.character_sets import EVERY
from clearformer.decoding.constraints.regex import whole_match
from clearformer.decoding.constraints.token_trie import TokenTrie


def test_the_walk_of_the_tree_is_the_walk_of_every_token():
    random = Random(2)
    tokens = [bytes(random.choices(b"ab\xe9\x9b\xaa", k=random.randrange(7))) for _ in range(300)]
    tokens[7] = tokens[9] = None
    tokens[20] = tokens[21] = b"ab"  # two tokens for one text
    machine = Automaton(ByteNetwork.of(whole_match("(a|b|雪)*雪a?|b{3,}")))
    for said in (b"", b"b", b"ab", "雪".encode(), b"\xe9"):
        state = machine.step(machine.start, said)
        expected = [machine.step(state, token) if token else DEAD for token in tokens]
        assert TokenTrie(tokens).walk(machine, state).tolist() == expected


BYTES = [bytes([byte]) for byte in range(256)]


def test_with_all_bytes_everything_can_be_written():
    assert TokenTrie(BYTES).alphabet == EVERY
    assert TokenTrie([*BYTES, "雪".encode()]).spells_bytes


def test_without_bytes_only_the_characters_that_are_tokens():
    some = TokenTrie([b"a", b"bc", "雪".encode(), "é".encode()[:1], None, b""])
    assert [letter for letter in "abc雪é" if letter in some.alphabet] == ["a", "雪"]
    assert not some.spells_bytes


@pytest.mark.parametrize("missing", [0x41, 0xC3, 0xE9, 0xED, 0xF0, 0xF4, 0x9B])
def test_without_a_byte_the_characters_that_need_it_are_wanting(missing):
    """Judged by spelling: near the bounds of every first byte."""
    trie = TokenTrie([byte for byte in BYTES if byte != bytes([missing])])
    assert trie.spells_bytes
    for number in [*range(0x180), *range(0x7F0, 0x810), *range(0x8FF0, 0x9010), *range(0xCFF0, 0xD010), 0xFFFF,
                   *range(0xE000, 0xE010), 0x10000, 0x3FFFF, 0x40000, 0x100000, 0x10FFFF]:  # fmt: skip
        needed = missing in chr(number).encode()
        if 0x80 <= missing < 0xC0:  # of the bytes behind the first, all or none are counted on
            needed = number >= 0x80
        assert (chr(number) in trie.alphabet) != needed, hex(number)


def test_an_empty_vocabulary_allows_nothing():
    machine = Automaton(ByteNetwork.of(whole_match("a")))
    assert TokenTrie([None, b""]).walk(machine, machine.start).tolist() == [DEAD, DEAD]
