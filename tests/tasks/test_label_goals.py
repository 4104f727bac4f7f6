"""Goals of training: places of labels in a definite order, or numbers around nought."""

import numpy as np
import pytest

from clearformer.data.readers.labelled import LabelledText
from clearformer.data.readers.tables import LabelledError
from clearformer.tasks.label_goals import Goals, labels_of, refuse_unknown
from clearformer.tasks.label_objectives import LabelObjective


def rows(*labels):
    return [LabelledText(f"text {n}", None, label, n, f"a.csv:{n}") for n, label in enumerate(labels, start=2)]


def test_one_class_each():
    goals = Goals.of(rows("b", "a", "b"), "one")
    assert (goals.labels, goals.counts) == (("a", "b"), (1, 2))
    assert [goals.numbers(row) for row in rows("b", "a")] == [[1], [0]]
    counted = goals.counted(LabelObjective(balance=0.5, smoothing=0.1))
    assert (counted.counts, counted.balance, counted.smoothing, counted.texts) == ((1, 2), 0.5, 0.1, 3)


def test_several_labels_or_none():
    given = rows('["a", "b"]', "[]", '["b"]')
    goals = Goals.of(given, "several")
    assert [goals.numbers(row) for row in given] == [[0, 1], [], [1]]
    assert goals.counts == (1, 2)
    assert labels_of(given[1], "several") == []


def test_numbers_have_mean_nought_and_deviation_one():
    given = rows("1", "2", "6.5")
    goals = Goals.of(given, "number")
    values = np.array([goals.numbers(row)[0] for row in given])
    assert values.mean() == pytest.approx(0, abs=1e-12)
    assert values.std() == pytest.approx(1)
    assert values * goals.outcome.deviation + goals.outcome.mean == pytest.approx([1, 2, 6.5])
    assert Goals.of(rows("3", "3"), "number").outcome.deviation == 1.0  # nothing to divide by


def test_an_unknown_label_is_refused_by_its_line():
    with pytest.raises(LabelledError, match=r"a\.csv:3: the label 'c' is unknown, which has a, b; rename it"):
        refuse_unknown(rows("a", "c"), ("a", "b"), "one", "is unknown")
    with pytest.raises(LabelledError, match=r"a\.csv:2: the label 'c'"):
        refuse_unknown(rows('["a", "c"]'), ("a", "b"), "several", "is unknown")
    refuse_unknown(rows("7"), (), "number", "is unknown")
