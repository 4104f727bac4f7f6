"""What may be asked."""

import json

import pytest
from pydantic import ValidationError

from clearformer.studio.requests import CellRequest, Input, SearchSettings, TreeRequest, ValuesRequest
from clearformer.studio.writing_settings import WritingSettings, fields_of


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


def test_only_what_was_chosen_is_chosen():
    """What nobody asked for is left to the model folder's own recipe."""
    assert parse(SearchSettings).chosen() == {}
    assert parse(SearchSettings, beam=4, top_k=None).chosen() == {"beam": 4, "top_k": None}


def test_a_request_takes_exactly_the_fields_of_the_form():
    shown = {told["name"]: told for told in fields_of(WritingSettings())}
    assert SearchSettings.model_fields.keys() == shown.keys()
    for name, told in shown.items():
        assert parse(SearchSettings, **{name: told["default"]}).chosen() == {name: told["default"]}
        for bound, beyond in (("least", -1), ("most", 1)):
            if told[bound] is not None:
                assert parse(SearchSettings, **{name: told[bound]})
                with pytest.raises(ValidationError):
                    parse(SearchSettings, **{name: told[bound] + beyond})


def test_texts_of_settings_have_bounds():
    parse(SearchSettings, choices=["yes", "no"], stop_text=["."], pattern="a+")
    for wrong in (
        {"choices": ["a"] * 101},
        {"choices": "yes"},
        {"stop_text": [1]},
        {"pattern": "a" * 10_001},
        {"schema": {"type": "string"}},
    ):
        with pytest.raises(ValidationError):
            parse(SearchSettings, **wrong)
    with pytest.raises(ValidationError, match="not Unicode text"):
        SearchSettings(stop_text=["\ud800"])


def test_places_and_lists_have_bounds():
    cell = {"input": {"text": "a"}, "layer": "s", "head": 0, "query": 0, "key": 0}
    assert parse(CellRequest, **cell).feature == 0
    for wrong in ({"head": -1}, {"query": 2**40}, {"layer": "s" * 201}):
        with pytest.raises(ValidationError):
            parse(CellRequest, **{**cell, **wrong})
    with pytest.raises(ValidationError):
        parse(ValuesRequest, input={"text": "a"}, names=["x"] * 33)
    with pytest.raises(ValidationError):
        parse(TreeRequest, text="a", prefix=[0] * 513)
