"""A grammar as nodes: distances are those of the shortest text, also through rules that call themselves."""

import pytest

from clearformer.decoding.constraints.automaton import Automaton
from clearformer.decoding.constraints.byte_network import ByteNetwork
from clearformer.decoding.constraints.character_sets import Characters
from clearformer.decoding.constraints.grammar import (
    EMPTY,
    NOTHING,
    Either,
    Grammar,
    Listing,
    Repeat,
    RuleCall,
    Series,
    text,
)
from clearformer.decoding.constraints.regex import whole_match


def shortest(part, rules=None):
    return ByteNetwork.of(Grammar(part, rules or {})).shortest


@pytest.mark.parametrize(
    ("part", "length"),
    [
        (text("abc"), 3),
        (text("雪"), 3),
        (EMPTY, 0),
        (NOTHING, None),
        (Series((text("a"), NOTHING)), None),
        (Either((text("abc"), text("de"), NOTHING)), 2),
        (Repeat(text("ab"), 3, None), 6),
        (Repeat(NOTHING, 0, None), 0),
    ],
)
def test_the_shortest_text(part, length):
    assert shortest(part) == length


def test_a_rule_may_call_itself_but_has_to_come_to_an_end():
    nested = Either((text("x"), Series((text("("), RuleCall("r"), text(")")))))
    assert shortest(RuleCall("r"), {"r": nested}) == 1
    assert shortest(Series((text("("), RuleCall("r"), text(")"))), {"r": nested}) == 3
    assert shortest(RuleCall("r"), {"r": Series((text("("), RuleCall("r")))}) is None
    two = {
        "a": Either((Series((text("["), RuleCall("b"))), text("long enough"))),
        "b": Series((text("]"), RuleCall("a"))),
    }
    assert shortest(RuleCall("b"), two) == 12


def test_a_list_has_its_separators_between_and_nowhere_else():
    parts = ((text("a"), False), (text("b"), True), (text("c"), False))
    automaton = Automaton(ByteNetwork.of(Grammar(Listing(parts, text(",")), {})))
    fitting = {said for said in ("", "a", "b", "c", "a,b", "b,c", "a,b,c", "a,c", ",b", "b,", "ab", "b,a")
               if automaton.accepts(automaton.step(automaton.start, said.encode()))}  # fmt: skip
    assert fitting == {"b", "a,b", "b,c", "a,b,c"}
    many = tuple((text(chr(0x61 + place % 26)), False) for place in range(200))
    assert len(ByteNetwork.of(Grammar(Listing(many, text(",")), {})).bytes) < 2000  # not 2 to the 200


def test_what_no_text_is_long_enough_for_is_not_counted():
    counted = ByteNetwork.of(whole_match("a{0,1000}"))
    assert len(ByteNetwork.of(whole_match("a{0,1000}"), reach=500).bytes) < 20 < len(counted.bytes)


def test_an_alphabet_limits_what_can_be_spelt():
    assert ByteNetwork.of(whole_match("a|bb"), alphabet=Characters.of("b")).shortest == 2
    assert ByteNetwork.of(whole_match("a"), alphabet=Characters.of("b")).shortest is None
