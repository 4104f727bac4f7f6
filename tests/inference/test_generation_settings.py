"""How a text is continued: each option has its sentence, and what makes no sense is refused."""

import json

import pytest

from clearformer.foundation.forms import describe_fields
from clearformer.inference.generation_settings import GenerationConfig


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ({"max_new": 0}, "max_new must be at least 1, not 0"),
        ({"temperature": -1.0}, "temperature must be at least 0, not -1"),
        ({"temperature": float("nan")}, "temperature must be a number"),
        ({"temperature": 1.0, "top_p": 0.0}, "top_p must be above 0"),
        ({"temperature": 1.0, "top_p": 1.1}, "top_p must be at most 1"),
        ({"temperature": 1.0, "top_k": 0}, "top_k must be at least 1"),
        ({"repetition_penalty": 0.0}, "repetition_penalty must be above 0"),
        ({"top_k": 5}, "set temperature above 0"),
        ({"min_p": 0.1}, "set temperature above 0"),
        ({"temperature": 1.0, "min_p": 0.0}, "min_p must be above 0"),
        ({"samples": 3}, "samples above 1 would all be the same text; set temperature above 0"),
        ({"samples": 0}, "samples must be at least 1"),
        ({"stop_text": ["a", ""]}, "stop_text is empty"),
        ({"seed": -1}, "seed must be at least 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(choices, sentence):
    with pytest.raises(ValueError, match=sentence):
        GenerationConfig(**choices)


def test_one_stop_text_need_not_be_a_list():
    assert GenerationConfig(stop_text="END") == GenerationConfig(stop_text=["END"])
    assert hash(GenerationConfig(stop_text=["END"]))


def test_every_option_is_described():
    for told in describe_fields(GenerationConfig):
        assert told["help"], told["name"]
        assert json.loads(json.dumps(told)) == told
