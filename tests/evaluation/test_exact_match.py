"""Exact match and F1: the rules of SQuAD, held against the published scores of five systems."""

import gzip
import json
import os
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.data.readers.squad import read_questions
from clearformer.evaluation.exact_match import answer_words, score_answer, score_answers

PUBLISHED = {  # exact match and F1 on SQuAD 1.1's development set, by the organisers' own program
    "bert-ensemble": (86.2062, 92.1956),
    "r-net-ensemble": (82.4693, 88.4779),
    "slqa-ensemble": (81.9489, 88.3839),
    "match-lstm-ensemble": (67.6348, 76.7556),
    "logistic-regression": (40.1419, 50.9815),
}


def test_case_punctuation_and_articles_do_not_count():
    assert answer_words("The  U.S., an  Army's\tband") == ["us", "armys", "band"]
    assert score_answer("the Eiffel Tower!", ["eiffel tower"]) == (1.0, 1.0)
    assert score_answer("theatre", ["atre"])[0] == 0.0  # an article is a word, not the beginning of one


def test_f1_is_the_harmonic_mean_of_precision_and_recall():
    exact, f1 = score_answer("in the old town hall", ["town hall"])
    precision, recall = 2 / 4, 2 / 2
    assert exact == 0.0
    assert f1 == pytest.approx(2 * precision * recall / (precision + recall))
    assert score_answer("b b", ["b"])[1] == pytest.approx(2 / 3)  # a word said twice is right once


def test_the_nearest_of_several_answers_counts():
    assert score_answer("1999", ["in 1999", "1999"]) == (1.0, 1.0)


def test_no_answer_is_right_only_where_there_is_none():
    assert score_answer("", []) == (1.0, 1.0)
    assert score_answer("snow", []) == (0.0, 0.0)
    assert score_answer("", ["snow"]) == (0.0, 0.0)


def test_chinese_is_compared_by_characters():
    scores = score_answers(["北京大学。", "19世纪"], [["北京大学"], ["在19世纪"]])
    assert scores["exact"] == 0.5
    assert scores["f1"] == pytest.approx((1 + 6 / 7) / 2)  # 19, 世, 纪 of 在, 19, 世, 纪
    assert "characters" in scores["signature"]


@given(st.text(string.printable), st.text(string.printable))
def test_f1_is_a_share_that_takes_no_sides(one, other):
    there, back = score_answer(one, [other]), score_answer(other, [one])
    assert there == back
    assert there[0] <= there[1] <= 1.0
    assert score_answer(one, [one]) == (1.0, 1.0)


def test_the_interval_encloses_the_score():
    scores = score_answers(["a dog", "snow", "b"] * 20, [["dog"], ["the ice"], ["b c"]] * 20)
    for name in ("exact", "f1"):
        assert 0 < scores[f"{name}_low"] < scores[name] < scores[f"{name}_high"] < 1


def test_as_many_answers_as_questions():
    with pytest.raises(ValueError, match="1 answers cannot be compared with 0"):
        score_answers(["x"], [])


@pytest.mark.corpora
@pytest.mark.parametrize("system", PUBLISHED)
def test_published_systems_have_their_published_scores(system):
    folder = Path(os.environ["CLEARFORMER_DATA"]) / "squad"
    questions = list(read_questions(folder / "dev-v1.1.rebuilt.json.gz"))
    said = json.loads(gzip.decompress((folder / "dev-predictions" / f"{system}.json.gz").read_bytes()))
    found = [said.get(asked.id, "") for asked in questions]
    scores = score_answers(found, [[answer.text for answer in asked.answers] for asked in questions])
    exact, f1 = PUBLISHED[system]
    assert 100 * scores["exact"] == pytest.approx(exact, abs=5e-5)
    assert 100 * scores["f1"] == pytest.approx(f1, abs=5e-5)
