"""The thirty-three mistakes."""

import re

from clearformer.lab.catalogue import EXPERIMENTS
from clearformer.lab.ledger import SEVERITIES, entries_of, read_ledger

CHINESE = re.compile(r"[\u4e00-\u9fff]")
NOTHING_TO_MEASURE = {15, 28}  # misspelt names, and a number that two versions of a paper give differently


def test_all_are_there_with_what_is_so():
    ledger = read_ledger()
    assert [entry.number for entry in ledger] == list(range(1, 34))
    for entry in ledger:
        assert entry.severity in SEVERITIES
        for text in (entry.said, entry.right):
            assert text.en
            assert text.zh
        assert not CHINESE.search(entry.right.en)
        assert CHINESE.search(entry.right.zh)


def test_each_names_an_experiment_that_there_is():
    for entry in read_ledger():
        assert set(entry.experiments) <= set(EXPERIMENTS), entry.number
        assert bool(entry.experiments) != (entry.number in NOTHING_TO_MEASURE), entry.number


def test_an_experiment_knows_its_mistakes():
    assert [entry.number for entry in entries_of("missing-softmax")] == [4, 5]
    assert entries_of("learning-rate") == []
