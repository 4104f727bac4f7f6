"""The pieces of JSON: what is written is read again as what was meant."""

import json
from random import Random

from clearformer.decoding.constraints.automaton import Automaton
from clearformer.decoding.constraints.byte_network import ByteNetwork
from clearformer.decoding.constraints.character_sets import EVERY, Characters
from clearformer.decoding.constraints.grammar import Grammar
from clearformer.decoding.constraints.json_text import ANY, CHARACTER, any_value, quoted, string, string_between

RULES = {ANY: any_value(), CHARACTER: quoted(EVERY)}


def automaton(part):
    return Automaton(ByteNetwork.of(Grammar(part, RULES)))


def fits(machine, said):
    return machine.accepts(machine.step(machine.start, said.encode()))


def test_a_character_is_escaped_where_json_wants_it_and_only_there():
    for letter in ['"', "\\", "/", "\n", "\0", "\x1f", "\x7f", "a", "雪", "😀", "\u2028"]:
        machine = automaton(string(quoted(Characters.of(letter))))
        assert fits(machine, json.dumps(letter, ensure_ascii=False))
        assert not fits(machine, json.dumps(letter + "b", ensure_ascii=False))
        assert not fits(machine, '"' + ("x" if letter == "a" else "a") + '"')


def test_lengths_are_those_of_the_value_not_of_its_spelling():
    machine = automaton(string_between(2, 3))
    for value in ("", "a", "\n\n", "雪😀", '"\\\0', "abcd"):
        assert fits(machine, json.dumps(value, ensure_ascii=False)) == (2 <= len(value) <= 3)


def test_any_value_is_any_value():
    machine, random = automaton(RULES[ANY]), Random(5)

    def value(depth):
        kind = random.randrange(7 if depth < 4 else 5)
        if kind == 5:
            return [value(depth + 1) for _ in range(random.randrange(3))]
        if kind == 6:
            return {random.choice("ab雪"): value(depth + 1) for _ in range(random.randrange(3))}
        return [None, True, -12.5, "te\\xt\n", 0][kind]

    for _ in range(200):
        said = json.dumps(value(0), ensure_ascii=False)
        assert fits(machine, said), said
        assert not fits(machine, said + "]")
        assert not fits(machine, said[:-1] + "\n")
