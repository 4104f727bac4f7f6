"""A form that cannot be honoured becomes a code with values, which both languages can say."""

import pytest

from clearformer.decoding.constraints.json_schema import read_schema
from clearformer.decoding.constraints.regex import whole_match
from clearformer.decoding.constraints.token_masks import ImpossibleError
from clearformer.serving.refusal import Refused
from clearformer.studio.form_refusals import form_refusals


def long():
    raise ImpossibleError("too long", needed=7, limit=5)


def never():
    raise ImpossibleError("never")


@pytest.mark.parametrize(
    ("ask", "code", "says", "values"),
    [
        (lambda: whole_match("a("), "pattern", "pattern, character 2: this ( is never closed", {"place": 2}),
        (lambda: read_schema('{"not": {}}'), "schema", "schema: the keyword 'not'", {"path": "/"}),
        (lambda: read_schema('{"items": {"type": "cow"}, "type": "array"}'), "schema", "there is no type 'cow'", {}),
        (long, "room", "takes 7 tokens, and at most 5", {"needed": 7, "limit": 5}),
        (never, "impossible", "no text fits this form: never", {"reason": "never"}),
    ],
)
def test_each_refusal_has_a_code(ask, code, says, values):
    with pytest.raises(Refused) as found, form_refusals():
        ask()
    assert found.value.code == code
    assert says in str(found.value)
    assert values.items() <= found.value.values.items()


def test_other_errors_pass():
    with pytest.raises(ValueError, match="another"), form_refusals():
        raise ValueError("another")
