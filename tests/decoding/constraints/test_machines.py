"""Machines over characters: the same texts as the pattern, and lengths that are counted beside it."""

import re
from itertools import product

import pytest

from clearformer.decoding.constraints.automaton import Automaton
from clearformer.decoding.constraints.byte_network import ByteNetwork, TooLargeError
from clearformer.decoding.constraints.grammar import Grammar, RuleCall
from clearformer.decoding.constraints.machines import machine_of, with_length
from clearformer.decoding.constraints.regex import whole_match

PATTERNS = ["(ab)*", "a?b?c?", "(a|bc){1,3}", "a{2,}|b", "", "(a|b)*abb?", "((a?b)?c){0,2}"]
TEXTS = ["".join(letters) for size in range(6) for letters in product("abc", repeat=size)]


def fitting(machine):
    automaton = Automaton(ByteNetwork.of(Grammar(machine, {})))
    return [said for said in TEXTS if automaton.accepts(automaton.step(automaton.start, said.encode()))]


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("lengths", [(0, None), (2, None), (0, 3), (1, 4), (3, 3)])
def test_a_pattern_and_a_length_at_once(pattern, lengths):
    least, most = lengths
    machine = with_length(machine_of(whole_match(pattern).start), least, most)
    expected = [said for said in TEXTS if re.fullmatch(pattern, said) and least <= len(said) <= (most or 5)]
    assert fitting(machine) == expected


def test_what_would_grow_without_bounds_is_refused():
    with pytest.raises(TooLargeError, match="too large"):
        machine_of(whole_match("(a?){2000}").start)
    with pytest.raises(TooLargeError, match="too large to be counted"):
        with_length(machine_of(whole_match("(a|b|c|d)*").start), 0, 9000)


def test_a_reference_is_no_part_of_a_pattern():
    with pytest.raises(TypeError, match="RuleCall"):
        machine_of(RuleCall("r"))
