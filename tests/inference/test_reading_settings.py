"""How models that read are asked: what cannot be meant is refused, and only what is known is asked."""

from dataclasses import replace

import pytest

from clearformer.inference.reading_settings import AnswerConfig, ReadingConfig, WhyClassConfig, WhyConfig


def test_a_batch_has_at_least_one_example():
    assert ReadingConfig(batch=1).batch == 1
    with pytest.raises(ValueError, match="batch must be at least 1, not 0"):
        ReadingConfig(batch=0)
    with pytest.raises(ValueError, match="batch must be at least 1, not -3"):
        replace(ReadingConfig(), batch=-3)


def test_an_answer_is_asked_for_as_texts_are_and_has_a_length_of_its_own():
    assert isinstance(AnswerConfig(batch=4, longest=2), ReadingConfig)
    with pytest.raises(ValueError, match="batch must be at least 1"):
        AnswerConfig(batch=0)
    with pytest.raises(ValueError, match="longest must be at least 1, not 0"):
        AnswerConfig(longest=0)


def test_an_unknown_setting_is_no_setting():
    with pytest.raises(TypeError, match="beam"):
        replace(ReadingConfig(), beam=4)


def test_an_explanation_is_asked_for_within_bounds():
    assert WhyConfig().why == "both"
    assert isinstance(WhyClassConfig(of="positive"), WhyConfig)
    with pytest.raises(ValueError, match="steps must be at most 1024, not 5000"):
        WhyConfig(steps=5000)
    with pytest.raises(ValueError, match="why is 'guess'; choose rollout or gradient or both"):
        WhyConfig(why="guess")
    with pytest.raises(ValueError, match="baseline is 'noise'; choose mask or pad or zero"):
        WhyClassConfig(baseline="noise")
    with pytest.raises(TypeError, match="of"):
        WhyConfig(of="positive")  # an answer has no class
