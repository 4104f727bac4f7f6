"""What gives a label away is found, and what only goes along with it is not."""

import random

import pytest

from clearformer.data.readers.labelled import LabelColumns, LabelledText
from clearformer.data.readers.tables import TableRow
from clearformer.tasks.automatic.label_leaks import leaking_columns, leaking_words

COLUMNS = LabelColumns(text="text", label="label")


def table(code, count=200):
    draw = random.Random(1)
    labels = [draw.choice(["good", "bad"]) for _ in range(count)]
    return [
        TableRow(n + 2, {"text": f"text {n}", "label": label, "code": code(n, label, draw)})
        for n, label in enumerate(labels)
    ]


@pytest.mark.parametrize(
    ("code", "leaks"),
    [
        (lambda n, label, draw: label[0].upper(), True),
        (lambda n, label, draw: label[0] + draw.choice("123"), True),
        (lambda n, label, draw: label[0] if draw.random() < 0.99 else "x", True),
        (lambda n, label, draw: draw.choice("gb"), False),
        (lambda n, label, draw: label[0] if draw.random() < 0.8 else "x", False),
        (lambda n, label, draw: f"{n}", False),  # the name of a row
        (lambda n, label, draw: "same", False),
    ],
)
def test_a_column_that_decides_the_label(code, leaks):
    assert bool(list(leaking_columns(table(code), COLUMNS))) == leaks


def test_guessing_the_commonest_class_is_no_leak():
    rows = [
        TableRow(n, {"text": f"t {n}", "label": "rare" if n % 50 == 0 else "usual", "code": "ab"[n % 2]})
        for n in range(400)
    ]
    assert not list(leaking_columns(rows, COLUMNS))


def test_a_word_of_one_class_alone_is_named_once():
    rows = [
        LabelledText(f"{'Source: blog' if n % 2 else 'Source: paper'} text {n}", None, "xy"[n % 2], n + 2)
        for n in range(100)
    ]
    found = list(leaking_words(rows))
    assert [leak.line for leak in found] == [2, 3]
    assert "'paper' is in 100% of the texts of 'x' and in 0% of the others" in found[0].said
    assert "'blog'" in found[1].said


def test_words_that_are_only_frequent_are_no_leak():
    draw = random.Random(2)
    rows = []
    for n in range(400):
        word = "fine" if draw.random() < (0.9 if n % 2 else 0.1) else "dull"
        rows.append(LabelledText(f"a {word} film {n}", None, "xy"[n % 2], n + 2))
    assert not list(leaking_words(rows))


def test_few_texts_tell_nothing():
    rows = [LabelledText("blog" if n % 2 else "paper", None, "xy"[n % 2], n + 2) for n in range(30)]
    assert not list(leaking_words(rows))
