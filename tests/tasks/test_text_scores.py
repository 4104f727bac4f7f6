"""Scores of a language model: per token, per word and per byte, of the whole text, and a sample."""

import math
from dataclasses import replace

import pytest

from clearformer.evaluation.likelihood import summarise
from clearformer.inference.text_generator import TextGenerator
from clearformer.run.recipe import read_recipe
from clearformer.tasks import language_model
from clearformer.tasks.language_model import TextScoring
from clearformer.tasks.task import Judging, Scoring
from clearformer.text.running_text import running_ids
from clearformer.training.distributed import Ranks
from flows.tiny_tasks import write_prose
from run.assembled import assemble


@pytest.fixture
def recipe(tmp_path):
    return read_recipe(write_prose(tmp_path))


@pytest.fixture
def made(recipe, tmp_path):
    return assemble(recipe, tmp_path)


def test_a_thorough_score_says_nats_with_an_interval_and_how_it_was_measured(made):
    generator, [held] = TextGenerator(made.made), made.prepared.held
    judging = Judging(options=None, scoring=TextScoring(), ranks=Ranks(), thorough=True)
    scores = language_model.score(generator, [held], judging)
    assert scores["nats_low"] <= scores["nats"] <= scores["nats_high"]
    assert scores["perplexity"] == pytest.approx(math.exp(scores["nats"]))
    ids = running_ids(generator.tokenizer, held)
    assert scores["tokens"] == len(ids)  # the first is predicted, too: from a line end
    assert str(scores["signature"]).startswith("context 16, stride 8, per token, whole text")
    assert scores == summarise(generator.likelihood(running_ids(generator.tokenizer, "\n") + ids), text=held)


def test_a_look_during_training_shows_a_sample_of_the_development_text(made, recipe):
    judging = Judging(options=recipe.use, scoring=Scoring(), ranks=Ranks())
    scores = language_model.score(TextGenerator(made.made), made.prepared.held, judging)
    assert list(scores) == ["sample_0"]
    assert scores["sample_0"].startswith(made.prepared.held[0][:5])
    assert scores == language_model.score(TextGenerator(made.made), made.prepared.held, judging)


@pytest.fixture
def worded(recipe, tmp_path):
    """The same prose, word by word."""
    vocabulary = replace(recipe.data.vocabulary, kind="word", vocab_size=100)
    return assemble(replace(recipe, data=replace(recipe.data, vocabulary=vocabulary)), tmp_path)


def test_a_model_of_words_has_one_perplexity(worded):
    """Where tokens are words and line ends, the perplexity per token is the one per word."""
    judging = Judging(options=None, scoring=TextScoring(), ranks=Ranks(), thorough=True)
    generator = TextGenerator(worded.made)
    scores = language_model.score(generator, worded.prepared.held, judging)
    assert scores["tokens"] == scores["words"]
    assert scores["perplexity"] == pytest.approx(scores["perplexity_per_word"])
    assert "unknown" not in scores
    assert generator.encode("") == [worded.made.tokenizer.eos_id]  # a line end, as training has it
    scores = language_model.score(generator, ["the zebra sees\n<unk> snow.\n"], judging)
    assert scores["unknown"] == 1  # zebra; what the text itself calls unknown does not count
