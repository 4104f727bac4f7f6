"""What may be asked."""

import json

import pytest
from pydantic import ValidationError

from clearformer.studio.requests import CellRequest, Input, SearchSettings, TreeRequest, ValuesRequest


def parse(kind, **fields):
    return kind.model_validate_json(json.dumps(fields))


def test_half_a_surrogate_pair_is_not_text():
    with pytest.raises(ValidationError, match="not Unicode text"):
        Input(text="\ud800")


@pytest.mark.parametrize(
    "fields",
    [{"beam": 0}, {"beam": 17}, {"beam": 2.5}, {"beam": "4"}, {"temperature": 0}, {"top_p": 0}, {"top_p": 1.1},
     {"seed": -1}, {"method": "magic"}, {"unknown": 1}, {"max_new": 10**9}],
)  # fmt: skip
def test_settings_have_bounds(fields):
    with pytest.raises(ValidationError):
        parse(SearchSettings, **fields)


def test_not_a_number_is_not_a_number():
    with pytest.raises(ValidationError):
        SearchSettings.model_validate_json('{"alpha": NaN}')


def test_defaults_are_those_of_translate():
    choices = parse(SearchSettings).choices()
    assert (choices.beam, choices.penalty, choices.alpha, choices.stop) == (4, "average", 1.0, "full")


def test_places_and_lists_have_bounds():
    cell = {"input": {"text": "a"}, "site": "s", "head": 0, "query": 0, "key": 0}
    assert parse(CellRequest, **cell).feature == 0
    for wrong in ({"head": -1}, {"query": 2**40}, {"site": "s" * 201}):
        with pytest.raises(ValidationError):
            parse(CellRequest, **{**cell, **wrong})
    with pytest.raises(ValidationError):
        parse(ValuesRequest, input={"text": "a"}, names=["x"] * 33)
    with pytest.raises(ValidationError):
        parse(TreeRequest, text="a", prefix=[0] * 513)
