"""All tokens at once: the walk of the tree is the walk of each token alone."""

from random import Random

from clearformer.decoding.constraints.automaton import DEAD, Automaton
from clearformer.decoding.constraints.characters import EVERY
from clearformer.decoding.constraints.network import Network
from clearformer.decoding.constraints.regex import whole_match
from clearformer.decoding.constraints.token_trie import UTF8, TokenTrie


def test_the_walk_of_the_tree_is_the_walk_of_every_token():
    random = Random(2)
    tokens = [bytes(random.choices(b"ab\xe9\x9b\xaa", k=random.randrange(7))) for _ in range(300)]
    tokens[7] = tokens[9] = None
    tokens[20] = tokens[21] = b"ab"  # two tokens for one text
    machine = Automaton(Network.of(whole_match("(a|b|雪)*雪a?|b{3,}")))
    for said in (b"", b"b", b"ab", "雪".encode(), b"\xe9"):
        state = machine.step(machine.start, said)
        expected = [machine.step(state, token) if token else DEAD for token in tokens]
        assert TokenTrie(tokens).walk(machine, state).tolist() == expected


def test_which_characters_can_be_written_one_by_one():
    everything = [bytes([byte]) for byte in UTF8]
    assert TokenTrie(everything).spells_bytes
    assert TokenTrie(everything).alphabet == EVERY
    some = TokenTrie([b"a", b"bc", "雪".encode(), "é".encode()[:1], None, b""])
    assert not some.spells_bytes
    assert [letter for letter in "abc雪é" if letter in some.alphabet] == ["a", "雪"]
    fallback = TokenTrie([b"a", *everything[0x80:]])
    assert [letter for letter in "abé雪😀" if letter in fallback.alphabet] == ["a", "é", "雪", "😀"]


def test_an_empty_vocabulary_allows_nothing():
    machine = Automaton(Network.of(whole_match("a")))
    assert TokenTrie([None, b""]).walk(machine, machine.start).tolist() == [DEAD, DEAD]
