"""BM25 beside a plain implementation of the formula, document by document and word by word."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.retrieval.bm25 import count_terms

WORDS = st.lists(st.sampled_from("abcde"), max_size=12)


def plainly(documents, query, k1=1.2, b=0.75):
    """Lucene's formula as it is written, without postings."""
    mean = sum(map(len, documents)) / len(documents) or 1.0
    found = []
    for document in documents:
        score = 0.0
        for term in query:
            having = sum(term in other for other in documents)
            count = document.count(term)
            if count:
                idf = math.log(1 + (len(documents) - having + 0.5) / (having + 0.5))
                score += idf * count / (count + k1 * (1 - b + b * len(document) / mean))
        found.append(score)
    return found


@given(st.lists(WORDS, min_size=1, max_size=8), WORDS)
def test_the_scores_are_the_formula_s(documents, query):
    assert count_terms(documents).scores(query) == pytest.approx(plainly(documents, query), rel=1e-9, abs=1e-12)


def test_what_it_is_for():
    """A rare word says more than a common one, a second occurrence less than the first, a long document less."""
    made = count_terms([["snow", "the"], ["the", "dog"], ["the", "dog", "dog"], ["the"] * 3 + ["dog"] + ["x"] * 9])
    assert made.idf("cat") > made.idf("snow") > made.idf("dog") > made.idf("the") > 0
    dog = made.scores(["dog"])
    assert dog[2] > dog[1] > dog[3] > dog[0] == 0
    assert dog[2] < 2 * dog[1]


@given(st.lists(WORDS, min_size=1, max_size=8), WORDS)
def test_a_share_lies_between_nothing_and_all_and_keeps_the_order(documents, query):
    made = count_terms(documents)
    scores = made.scores(query)
    share = made.share(scores, query)
    assert ((share >= 0) & (share < 1)).all()
    assert np.array_equal(np.argsort(-scores, kind="stable"), np.argsort(-share, kind="stable"))


def test_a_document_of_nothing_else_has_nearly_all():
    made = count_terms([["dog"] * 500 + ["snow"] * 500, ["x"] * 2000])
    assert made.share(made.scores(["dog", "snow"]), ["dog", "snow"])[0] > 0.99
    assert made.share(made.scores(["dog", "unheard"]), ["dog", "unheard"])[0] < 0.5


def test_postings_are_sorted_and_complete():
    made = count_terms([["b", "a", "b"], [], ["a"]])
    assert list(made.terms) == ["a", "b"]
    assert made.starts.tolist() == [0, 2, 3]
    assert made.documents.tolist() == [0, 2, 0]
    assert made.counts.tolist() == [1, 1, 2]
    assert made.lengths.tolist() == [3, 0, 1]
    assert np.array_equal(count_terms([[], []]).scores(["a"]), [0, 0])
