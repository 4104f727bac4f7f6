"""Patterns are read as Python's `re` reads them, and what an automaton cannot do is refused with its place."""

import re
from random import Random

import pytest

from clearformer.decoding.constraints.automaton import Automaton
from clearformer.decoding.constraints.byte_network import ByteNetwork, TooLargeError
from clearformer.decoding.constraints.grammar import Grammar
from clearformer.decoding.constraints.regex import PatternError, search_match, whole_match

ATOMS = [*"abcé雪😀-", ".", "\\d", "\\w", "\\W", "\\s", "[a-c]", "[^a]", "[é-雪]", "[]x-]", "\\x61", "\\u96ea", "\\."]
TIMES = ["*", "+", "?", "{2}", "{1,2}", "{,2}", "{2,}", "*?", "{0}"]


def automaton(pattern):
    return Automaton(ByteNetwork.of(whole_match(pattern)))


def fits(machine, text):
    return machine.accepts(machine.step(machine.start, text.encode()))


def random_pattern(random, depth=0):
    kind = random.randrange(6 if depth < 4 else 1)
    if kind < 2:
        return random.choice(ATOMS)
    if kind == 2:
        return f"({random_pattern(random, depth + 1)}|{random_pattern(random, depth + 1)})"
    if kind == 3:
        return f"(?:{random_pattern(random, depth + 1)}){random.choice(TIMES)}"
    return random_pattern(random, depth + 1) + random_pattern(random, depth + 1)


def random_member(random, machine):
    """A way through the automaton by chance, and home by the shortest way."""
    data, state = bytearray(), machine.start
    for _ in range(random.randrange(12)):
        following = [byte for byte in range(256) if machine.step(state, bytes([byte]))]
        if not following:
            break
        data.append(random.choice(following))
        state = machine.step(state, data[-1:])
    return (bytes(data) + machine.completion(state)).decode()


@pytest.mark.parametrize("seed", range(8))
def test_random_patterns_fit_what_python_matches(seed):
    random = Random(seed)
    for _ in range(40):
        pattern = random_pattern(random)
        machine, judge = automaton(pattern), re.compile(pattern, re.ASCII)
        for _ in range(25):
            text = "".join(random.choices("abcxé雪😀1_ .-\n", k=random.randrange(7)))
            assert fits(machine, text) == (judge.fullmatch(text) is not None), (pattern, text)
        for _ in range(3):
            member = random_member(random, machine)
            assert judge.fullmatch(member), (pattern, member)


@pytest.mark.parametrize(
    "pattern",
    [
        "^ab$",
        "\\Aab\\Z",
        "a{,3}b",
        "a{b}",
        "{",
        "x{1,2}?",
        "(?P<n>a)(?<m>b)",
        "[\\]\\[]+",
        "[\\d.-]+",
        "(|a)b",
        "a||b",
        "",
    ],
)
def test_ways_of_writing(pattern):
    judge = re.compile(pattern.replace("(?<m>", "(?P<m>"), re.ASCII)
    machine = automaton(pattern)
    for text in ("", "ab", "a", "b", "aab", "aaaab", "a{b}", "{", "x", "xx", "[", "]", "1.2-3", "aaab"):
        assert fits(machine, text) == (judge.fullmatch(text) is not None), text


def test_a_search_may_begin_and_end_anywhere_unless_it_says_otherwise():
    for pattern in ("ab", "^ab", "ab$", "^ab$", "a|^b", "x*"):
        machine = Automaton(ByteNetwork.of(Grammar(search_match(pattern), {})))
        for text in ("ab", "xab", "abx", "xabx", "", "b", "xb", "a"):
            assert fits(machine, text) == (re.search(pattern, text) is not None), (pattern, text)


@pytest.mark.parametrize(
    ("pattern", "place", "reason"),
    [
        ("a(?=b)", 2, "looking ahead"),
        ("a(?<!b)", 2, "looking back"),
        ("(a)\\1", 4, "a backreference"),
        ("(?P<n>a)(?P=n)", 9, "a backreference"),
        ("(?i)a", 1, "flags"),
        ("a\\b", 2, "is not understood"),
        ("\\p{L}", 1, "is not understood"),
        ("a^b", 2, "at the beginning"),
        ("a$b", 2, "at the end"),
        ("(a$)", 3, "at the end"),
        ("(a", 1, "never closed"),
        ("a)", 2, "closes nothing"),
        ("[a", 1, "never closed"),
        ("*a", 1, "nothing before"),
        ("a**", 3, "cannot be repeated"),
        ("a++", 3, "cannot be repeated"),
        ("a{3,2}", 2, "is never"),
        ("a{99999}", 2, "can be counted"),
        ("[b-a]", 2, "backwards"),
        ("[a-\\d]", 2, "to a class"),
        ("\\x4", 1, "hexadecimal"),
        ("\\ud800", 1, "no character"),
        ("a\\", 2, "ends too soon"),
    ],
)
def test_what_cannot_be_honoured_is_refused_with_its_place(pattern, place, reason):
    with pytest.raises(PatternError, match=f"pattern, character {place}: .*{reason}"):
        whole_match(pattern)


def test_patterns_that_drive_others_mad_are_read_in_no_time():
    """Backtracking takes 2^30 steps for the first two; the complete automaton of the third has 2^30 states."""
    for pattern in ("(a*)*b", "(a|a)*b", "(a|b)*a(a|b){30}"):
        machine = automaton(pattern)
        assert not fits(machine, "a" * 30 + "c")
        assert fits(machine, "a" * 40 + ("b" if pattern.endswith("b") else ""))
    with pytest.raises(TooLargeError, match="too large"):
        automaton("((a{100}){100}){100}")
    with pytest.raises(PatternError, match="too deep"):
        whole_match("(" * 200 + ")" * 200)
    with pytest.raises(PatternError, match="too long"):
        whole_match("a" * 20_000)
