"""Repeats, against the obvious way to find them."""

from array import array

from hypothesis import given
from hypothesis import strategies as st

from clearformer.text.doctor.repeats import find_many_targets, find_repeats

FEW = st.integers(-3, 3)


@given(values=st.lists(FEW))
def test_repeats_are_those_that_a_dictionary_finds(values):
    first: dict[int, int] = {}
    expected = []
    for line, value in enumerate(values, start=1):
        if value in first:
            expected.append((line, first[value]))
        first.setdefault(value, line)
    found = find_repeats(array("q", values), examples=1000)
    assert (found.count, found.examples) == (len(expected), expected)
    assert find_repeats(array("q", values), examples=2).examples == expected[:2]


@given(pairs=st.lists(st.tuples(FEW, FEW)))
def test_another_target_is_a_new_pair_of_a_known_source(pairs):
    seen: set[tuple[int, int]] = set()
    first: dict[int, int] = {}
    expected = []
    for line, (source, target) in enumerate(pairs, start=1):
        if (source, target) not in seen and source in first:
            expected.append((line, first[source]))
        seen.add((source, target))
        first.setdefault(source, line)
    sources = array("q", [source for source, _ in pairs])
    found = find_many_targets(sources, array("q", [10 * s + t for s, t in pairs]), examples=1000)
    assert (found.count, found.examples) == (len(expected), expected)
