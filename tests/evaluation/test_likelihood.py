"""Nats, perplexity and bits per byte over a whole text, with an interval over blocks."""

import math
import os
from pathlib import Path

import numpy as np
import pytest

from clearformer.evaluation.likelihood import Likelihood, count_words, summarise
from clearformer.text.lines import read_lines


def found(blocks):
    return Likelihood(blocks=blocks, context=8, stride=4)


def test_a_model_that_knows_nothing_hesitates_between_all_tokens():
    """ln 256 nats for each of 100 bytes: a perplexity of 256, and eight bits per byte."""
    scores = summarise(found([[math.log(256)] * 10] * 10), text="x" * 100)
    assert scores["nats"] == pytest.approx(math.log(256))
    assert scores["perplexity"] == pytest.approx(256)
    assert scores["bits_per_byte"] == pytest.approx(8)
    assert scores["nats_low"] == pytest.approx(scores["nats_high"])
    assert scores["tokens"] == 100
    assert str(scores["signature"]).startswith("context 8, stride 4, per token, whole text")


def test_tokens_count_alike_however_they_are_cut_into_blocks():
    values = list(np.random.default_rng(1).random(60))
    one = summarise(found([values]), text="x")
    other = summarise(found([values[:7], values[7:30], values[30:]]), text="x")
    assert one["nats"] == pytest.approx(other["nats"]) == pytest.approx(np.mean(values))


def test_bits_per_byte_counts_bytes_not_letters():
    assert summarise(found([[math.log(2)] * 6]), text="雪雪")["bits_per_byte"] == pytest.approx(1.0)


def test_more_text_makes_the_interval_narrower_and_the_same_text_the_same_interval():
    draw = np.random.default_rng(2)
    blocks = [list(draw.random(8)) for _ in range(400)]
    wide, narrow = (summarise(found(blocks[:count]), text="x") for count in (20, 400))
    assert narrow["nats_high"] - narrow["nats_low"] < 0.5 * (wide["nats_high"] - wide["nats_low"])
    assert summarise(found(blocks), text="x") == narrow
    assert narrow["nats_low"] <= narrow["nats"] <= narrow["nats_high"]


def test_a_hopeless_model_has_a_perplexity_that_can_be_printed():
    assert math.isfinite(summarise(found([[1e6]]), text="x")["perplexity"])


def test_perplexity_per_word_is_the_same_however_words_are_cut_into_tokens():
    """12 nats over four words and two line ends: e² per word, whether they come as six tokens or as forty."""
    text = "the dog\nsees snow\n"
    for tokens in (6, 40):
        scores = summarise(found([[12 / tokens] * tokens]), text=text)
        assert scores["perplexity_per_word"] == pytest.approx(math.exp(2))
        assert scores["perplexity"] == pytest.approx(math.exp(12 / tokens))
        assert scores["words"] == 6
        assert str(scores["signature"]).endswith("a word is what stands between spaces, or a line end")


def test_line_ends_count_as_words_also_of_empty_lines():
    assert count_words(" \n = Title = \n \n two words") == 3 + 2 + 3


def test_text_without_spaces_has_no_perplexity_per_word():
    scores = summarise(found([[1.0] * 6]), text="雪下得很大\n")
    assert "perplexity_per_word" not in scores
    assert scores["signature"] == "context 8, stride 4, per token, whole text"


@pytest.mark.corpora
def test_the_published_number_of_words():
    """245,569 words and line ends of the test part: what every paper divides by."""
    lines = read_lines(Path(os.environ["CLEARFORMER_DATA"]) / "wikitext-2" / "wiki.test.tokens.gz")
    assert count_words("".join(f"{line}\n" for line in lines)) == 245_569
