"""Tags of entities: notations say the same, and what may follow what is what spans need."""

from itertools import pairwise, product

import pytest

from clearformer.data.entity_tags import Span, bio_labels, continues, may_follow, parts, spans, to_bio


def test_notations_of_the_same_entities_become_the_same_tags():
    bio = ["B-PER", "I-PER", "I-PER", "O", "B-LOC", "B-LOC", "I-LOC"]
    bmes = ["B-PER", "M-PER", "E-PER", "O", "S-LOC", "B-LOC", "E-LOC"]
    iobes = ["B-PER", "I-PER", "E-PER", "O", "S-LOC", "B-LOC", "E-LOC"]
    assert to_bio(bio) == to_bio(bmes) == to_bio(iobes) == (bio, [])
    assert list(spans(bmes)) == [Span(0, 3, "PER"), Span(4, 5, "LOC"), Span(5, 7, "LOC")]


@pytest.mark.parametrize(
    ("tags", "wanted", "odd"),
    [
        (["I-PER"], ["B-PER"], [0]),
        (["O", "I-PER", "I-PER"], ["O", "B-PER", "I-PER"], [1]),
        (["B-PER", "I-LOC"], ["B-PER", "B-LOC"], [1]),
        (["B-PER", "E-PER", "M-PER"], ["B-PER", "I-PER", "B-PER"], [2]),
        (["S-PER", "I-PER"], ["B-PER", "B-PER"], [1]),
    ],
)
def test_what_continues_nothing_begins_and_is_told(tags, wanted, odd):
    assert to_bio(tags) == (wanted, odd)


def test_a_type_may_have_a_dash_and_a_point():
    assert parts("B-creative-work") == ("B", "creative-work")
    assert parts("I-PER.NOM") == ("I", "PER.NOM")
    assert [parts(wrong) for wrong in ("B", "B-", "X-PER", "o", "", "-PER", "BPER")] == [None] * 7


def test_legal_orders_are_just_those_that_need_no_repair():
    labels = bio_labels(["PER", "LOC", "PER"])
    assert labels == ("O", "B-LOC", "I-LOC", "B-PER", "I-PER")
    follow, first, last = may_follow(labels)
    for numbers in product(range(len(labels)), repeat=3):
        legal = first[numbers[0]] and all(follow[pair] for pair in pairwise(numbers))
        assert bool(legal and last[numbers[-1]]) == (to_bio([labels[number] for number in numbers])[1] == [])


def test_where_labels_end_entities_an_entity_has_to_end():
    labels = ("O", "B-X", "I-X", "E-X", "S-X")
    follow, first, last = may_follow(labels)
    allowed = {(a, b) for i, a in enumerate(labels) for j, b in enumerate(labels) if follow[i, j]}
    closed, opened = {"O", "E-X", "S-X"}, {"B-X", "I-X"}
    assert allowed == {*product(closed, {"O", "B-X", "S-X"}), *product(opened, {"I-X", "E-X"})}
    assert first.tolist() == [True, True, False, False, True]
    assert last.tolist() == [True, False, False, True, True]


def test_other_labels_may_stand_anywhere():
    follow, first, last = may_follow(("NOUN", "VERB", "I-OLD"))  # no B-OLD: the older IOB
    assert follow.all()
    assert first.all()
    assert last.all()
    assert not continues("NOUN", "NOUN")
