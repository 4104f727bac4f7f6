"""Reports of mistakes: classes by hand, confusions that add up, and the surest mistakes first."""

import json
import random
from collections import Counter

import pytest

from clearformer.evaluation.report import ErrorReport, Mistake, confuse, score_by_class, worst


def test_precision_and_recall_by_hand():
    """a is found three times and right twice; c is never found; d does not occur."""
    found, wanted = list("aaabbd"), list("aabbbc")
    by_name = {one.name: one for one in score_by_class(found, wanted)}
    assert (by_name["a"].precision, by_name["a"].recall) == (2 / 3, 1.0)
    assert (by_name["b"].precision, by_name["b"].recall, by_name["b"].count) == (1.0, 2 / 3, 3)
    assert (by_name["c"].precision, by_name["c"].recall, by_name["c"].f1) == (0.0, 0.0, 0.0)
    assert (by_name["d"].count, by_name["d"].found, by_name["d"].f1) == (0, 1, 0.0)
    assert list(by_name) == ["b", "a", "c", "d"]  # the most frequent first


def test_a_confusion_counts_every_pair_once():
    draw = random.Random(7)
    wanted, found = draw.choices("abcd", k=500), draw.choices("abce", k=500)
    table = confuse(zip(wanted, found, strict=True))
    assert sum(map(sum, table.counts)) == 500
    assert {label: sum(row) for label, row in zip(table.labels, table.counts, strict=True)} == {
        label: Counter(wanted)[label] for label in "abcde"
    }
    assert [sum(row) for row in table.counts] == sorted((sum(row) for row in table.counts), reverse=True)
    assert sum(table.counts[place][place] for place in range(5)) == sum(map(str.__eq__, found, wanted))
    assert table.first(2).labels == table.labels[:2]
    assert table.first(2).counts == [row[:2] for row in table.counts[:2]]


def test_the_surest_mistakes_come_first_and_are_ten():
    some = [Mistake(text=str(n), wanted="a", found="b", probability=n / 40) for n in range(40)]
    assert [one.text for one in worst(some)] == [str(n) for n in range(39, 29, -1)]
    assert worst([]) == []


def test_a_report_can_be_written_and_says_only_what_there_is():
    mistake = Mistake(text="电影", wanted="好", found="坏", probability=0.9, place="a.csv:7")
    plain = ErrorReport(scores={"accuracy": 0.5}, mistakes=[mistake], mistaken=1).plain()
    assert json.loads(json.dumps(plain)) == plain
    assert plain["mistakes"][0]["place"] == "a.csv:7"
    assert "confusion" not in plain
    assert "classes" not in plain


def test_as_many_found_as_wanted():
    with pytest.raises(ValueError, match="longer"):
        score_by_class(["a"], ["a", "b"])
