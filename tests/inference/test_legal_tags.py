"""The best legal tags and the probability of entities, against trying every sequence."""

from itertools import pairwise, product

import numpy as np
import pytest

from clearformer.data.entity_tags import may_follow, spans
from clearformer.inference.legal_tags import LegalTags

BIO = ("O", "B-LOC", "I-LOC", "B-PER", "I-PER")
BMES = ("O", "B-X", "M-X", "E-X", "S-X")


def legal_sequences(labels, words):
    follow, first, last = may_follow(labels)
    for numbers in product(range(len(labels)), repeat=words):
        steps = pairwise(numbers)
        if first[numbers[0]] and last[numbers[-1]] and all(follow[pair] for pair in steps):
            yield numbers


@pytest.mark.parametrize("labels", [BIO, BMES, ("NOUN", "VERB", "O")])
@pytest.mark.parametrize("words", [1, 2, 4])
def test_it_is_the_best_of_all_legal_sequences(labels, words):
    draw = np.random.default_rng(words)
    for _ in range(10):
        scores = draw.normal(scale=3, size=(words, len(labels)))
        total = {one: scores[range(words), one].sum() for one in legal_sequences(labels, words)}
        assert tuple(LegalTags(labels).best(scores)) == max(total, key=total.get)


@pytest.mark.parametrize("labels", [BIO, BMES])
def test_a_probability_is_the_share_of_sequences_with_that_entity(labels):
    draw = np.random.default_rng(1)
    for _ in range(20):
        scores = draw.normal(scale=2, size=(4, len(labels)))
        weight = {one: np.exp(scores[range(4), one].sum()) for one in legal_sequences(labels, 4)}
        legal = LegalTags(labels)
        for span, probability in legal.entities(scores, legal.best(scores)):
            mine = sum(w for one, w in weight.items() if span in set(spans([labels[number] for number in one])))
            assert probability == pytest.approx(mine / sum(weight.values()))


def test_a_sentence_of_no_words_has_no_tags():
    legal = LegalTags(BIO)
    assert legal.best(np.empty((0, 5))) == []
    assert legal.entities(np.empty((0, 5)), []) == []
