"""Cells of a label column: one label, several, or a number, told apart by what a whole column looks like."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.data.readers.label_cells import join_labels, kind_of, number_in, split_labels


@pytest.mark.parametrize(
    ("cell", "labels"),
    [
        ("a", ("a",)),
        ("b|a", ("a", "b")),
        (" b ; a ;", ("a", "b")),
        ('["b", "a", "b"]', ("a", "b")),
        ("[1, 2]", ("1", "2")),
        ("", ()),
        ("[]", ()),
        ("[not json|b", ("[not json", "b")),
        ("体育|财经", ("体育", "财经")),
    ],
)
def test_cells_by_hand(cell, labels):
    assert split_labels(cell) == labels


@given(st.lists(st.text(min_size=1, max_size=8).map(str.strip).filter(bool), max_size=5))
def test_what_is_joined_is_split_again(labels):
    """Also labels with bars, brackets and quotation marks inside."""
    assert split_labels(join_labels(labels)) == tuple(sorted(set(labels)))


def column(make, count=300):
    draw = random.Random(1)
    return [make(draw) for _ in range(count)]


def test_a_column_of_sets_is_told_from_names_with_a_bar():
    sets = column(lambda draw: "|".join(draw.sample(["sad", "glad", "mad", "odd"], draw.choice((1, 1, 2, 3)))))
    assert kind_of(sets) == "several"
    assert kind_of([json.dumps(cell.split("|")) for cell in sets]) == "several"
    names = column(lambda draw: draw.choice(["Rock|Pop", "Jazz|Soul", "News"]))  # three shelves, never mixed
    assert kind_of(names) == "one"
    assert kind_of(column(lambda draw: draw.choice(["yes", "no"]))) == "one"


def test_numbers_of_many_values_are_no_classes():
    assert kind_of(column(lambda draw: f"{draw.uniform(0, 5):.2f}")) == "number"
    assert kind_of(column(lambda draw: str(draw.randrange(6)))) == "one"  # stars
    assert kind_of(column(lambda draw: str(draw.randrange(150)))) == "one"  # numbered classes
    assert kind_of(column(lambda draw: str(draw.randrange(10_000)), 2000)) == "number"  # prices


@pytest.mark.parametrize("cell", ["nan", "inf", "-inf", "", "three", "1,5"])
def test_what_is_no_number(cell):
    assert number_in(cell) is None
