"""Walking: one state per set of ways, distances that go down by one a byte, and completions that stay the same."""

import re

import numpy as np
import pytest

from clearformer.decoding.constraints import automaton as module
from clearformer.decoding.constraints.automaton import DEAD, Automaton
from clearformer.decoding.constraints.byte_network import ByteNetwork, TooLargeError
from clearformer.decoding.constraints.grammar import Either, Grammar, RuleCall, Series, text
from clearformer.decoding.constraints.regex import whole_match


def walk(pattern):
    return Automaton(ByteNetwork.of(whole_match(pattern)))


@pytest.mark.parametrize("pattern", ["abc|abd|x{7}", "(ab)*c", "[a-z]{2,4}雪?", "(a|b)*abb"])
def test_the_rest_of_a_completion_is_the_completion_of_where_it_has_come_to(pattern):
    """The proof that a text always ends in time rests on this."""
    machine = walk(pattern)
    for beginning in (b"", b"a", b"ab", b"x"):
        state = machine.step(machine.start, beginning)
        if state == DEAD:
            continue
        rest = machine.completion(state)
        assert re.fullmatch(pattern, (beginning + rest).decode())
        for place in range(len(rest) + 1):
            here = machine.step(state, rest[:place])
            assert machine.distance(here) == len(rest) - place
            assert machine.completion(here) == rest[place:]


def test_many_steps_at_once_are_the_single_steps():
    machine = walk("(ab|雪)*c?")
    states = [machine.step(machine.start, data) for data in (b"", b"a", b"ab", "雪".encode()[:1])] + [DEAD]
    for byte in (0x61, 0x62, 0x63, 0xE9, 0x9B, 0x00):
        found = machine.steps(np.array(states, dtype=np.int32), np.full(len(states), byte, dtype=np.uint8))
        assert found.tolist() == [machine.step(state, bytes([byte])) for state in states]


def test_brackets_are_counted_however_deep():
    rule = Either((text("x"), Series((text("("), RuleCall("r"), text(")")))))
    machine = Automaton(ByteNetwork.of(Grammar(RuleCall("r"), {"r": rule})))
    for depth in (0, 1, 50, 400):
        said = b"(" * depth + b"x" + b")" * depth
        assert machine.accepts(machine.step(machine.start, said))
        assert machine.step(machine.start, said + b")") == DEAD
        assert machine.distance(machine.step(machine.start, b"(" * depth)) == depth + 1


def test_a_rule_that_begins_with_itself_is_refused():
    rule = Either((text("x"), Series((RuleCall("r"), text("y")))))
    with pytest.raises(TooLargeError, match="too many ways"):
        Automaton(ByteNetwork.of(Grammar(RuleCall("r"), {"r": rule})))


def test_more_states_than_can_be_kept_are_refused(monkeypatch):
    monkeypatch.setattr(module, "MOST_STATES", 20)
    machine = walk("(a|b)*a(a|b){10}")
    said = "".join(f"{number:010b}" for number in range(1 << 8)).replace("0", "a").replace("1", "b")
    with pytest.raises(TooLargeError, match="too many states"):
        machine.step(machine.start, said.encode())
