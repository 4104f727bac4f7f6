"""Nats per word and accuracy: means over words, intervals over rows."""

import math

import numpy as np
import pytest

from clearformer.evaluation.word_likelihood import summarise_words


def test_means_by_hand():
    nats = [np.array([1.0, 2.0]), np.array([6.0]), np.empty(0)]
    right = [np.array([True, False]), np.array([False]), np.empty(0, dtype=bool)]
    scores = summarise_words(nats, right, pieces=6)
    assert scores["nats"] == 3
    assert scores["accuracy"] == pytest.approx(1 / 3)
    assert scores["nats_per_token"] == 1.5
    assert scores["perplexity"] == pytest.approx(math.exp(3))
    assert (scores["words"], scores["tokens"], scores["unit"]) == (3, 6, "masked word")


def test_an_interval_holds_the_mean_and_narrows_with_more_rows():
    draw = np.random.default_rng(1)
    widths = []
    for count in (20, 2000):
        rows = [draw.exponential(4.0, 10) for _ in range(count)]
        scores = summarise_words(rows, [row < 2 for row in rows], pieces=10 * count)
        assert scores["nats_low"] < scores["nats"] < scores["nats_high"]
        assert scores["accuracy_low"] < scores["accuracy"] < scores["accuracy_high"]
        widths.append(scores["nats_high"] - scores["nats_low"])
    assert widths[1] < widths[0] / 5


def test_without_words_there_is_no_score():
    with pytest.raises(ValueError, match="there are no words to hide"):
        summarise_words([np.empty(0)], [np.empty(0, dtype=bool)], pieces=0)
