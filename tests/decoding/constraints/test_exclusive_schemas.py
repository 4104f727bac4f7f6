"""oneOf: certain that no two fit the same value, or not."""

import pytest

from clearformer.decoding.constraints.exclusive_schemas import exclude_each_other


def tagged(kind, **more):
    return {"type": "object", "properties": {"kind": {"const": kind}, **more}, "required": ["kind"]}


@pytest.mark.parametrize(
    "schemas",
    [
        [{"type": "string"}, {"type": "integer"}, {"type": ["null", "object"]}],
        [{"const": 1}, {"const": True}, {"enum": ["a", 2]}],
        [{"const": "a"}, {"type": "number"}],
        [tagged("cat"), tagged("dog", name={"type": "string"})],
        [False, {}],
        [{}],
    ],
)
def test_apart(schemas):
    assert exclude_each_other(schemas)


@pytest.mark.parametrize(
    "schemas",
    [
        [{"type": "number"}, {"type": "integer"}],
        [{"const": 1}, {"const": 1.0}],
        [{"type": "string", "maxLength": 3}, {"type": "string", "minLength": 4}],  # apart, but that is not looked at
        [{"type": "object", "properties": {"a": {}}}, {"type": "object", "properties": {"b": {}}}],
        [tagged("cat"), {**tagged("dog"), "required": []}],
        [{}, {"type": "null"}],
    ],
)
def test_not_certain(schemas):
    assert not exclude_each_other(schemas)
