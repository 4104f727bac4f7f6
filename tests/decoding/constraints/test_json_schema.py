"""Schemas: what is written for each keyword, and every keyword that cannot be honoured is refused by its name."""

import json

import pytest

from clearformer.decoding.constraints.automaton import Automaton
from clearformer.decoding.constraints.byte_network import ByteNetwork
from clearformer.decoding.constraints.json_schema import SchemaError, read_schema, schema_grammar

TREE = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": {
            "type": "object",
            "properties": {"n": {"type": "integer"}, "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}},
            "required": ["n", "next"],
        }
    },
}


def fits(schema, said):
    automaton = Automaton(ByteNetwork.of(schema_grammar(schema)))
    return automaton.accepts(automaton.step(automaton.start, said.encode()))


@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        ({"type": "boolean"}, ["true", "false"], ["null", "True", ""]),
        ({"enum": ["a", 1, None, {"b": [1.5]}]}, ['"a"', "1", "null", '{"b": [1.5]}'], ['"b"', "1.0"]),
        ({"type": "string", "enum": ["a", 1]}, ['"a"'], ["1"]),
        ({"type": ["string", "null"], "maxLength": 1}, ['""', '"雪"', "null"], ['"ab"']),
        ({"maxLength": 1}, ['"a"'], ['"ab"', "1"]),
        ({"type": "string", "pattern": "^a", "maxLength": 2}, ['"a"', '"ab"'], ['"ba"', '"abc"']),
        ({"items": {"const": 1}, "minItems": 1, "maxItems": 2}, ["[1]", "[1, 1]"], ["[]", "[1, 1, 1]"]),
        ({"type": "array", "items": False}, ["[]"], ["[1]"]),
        ({"type": "array", "maxItems": 0}, ["[]"], ["[1]"]),
        ({"type": "object", "additionalProperties": False}, ["{}"], ['{"a": 1}']),
        ({"type": "object", "additionalProperties": {"const": 1}}, ["{}", '{"a": 1, "b": 1}'], ['{"a": 2}']),
        ({"properties": {"a": False, "b": {"const": 1}}}, ["{}", '{"b": 1}'], ['{"a": 1}']),
        ({"required": ["x"], "properties": {"y": {"const": 1}}}, ['{"x": null}', '{"y": 1, "x": 2}'], ["{}"]),
        ({"anyOf": [{"const": 1}, False, {"type": "null"}]}, ["1", "null"], ["2"]),
        ({"allOf": [{"const": 1}]}, ["1"], ["2"]),
        ({"title": "anything"}, ["1", "[[]]", '{"a": {}}'], ["{a}"]),
        (True, ["null"], ["nil"]),
        (TREE, ['{"n": 1, "next": {"n": 2, "next": null}}'], ['{"n": 1, "next": {"n": 2}}']),
        ({"type": "integer", "exclusiveMinimum": 1, "minimum": 1, "maximum": 3}, ["2", "3"], ["1", "4"]),
        ({"properties": {"a/b~": {"$ref": "#/properties/c"}, "c": {"const": 1}}}, ['{"a/b~": 1, "c": 1}'], ["[]"]),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_written(schema, right, wrong):
    assert [said for said in right if not fits(schema, said)] == []
    assert [said for said in wrong if fits(schema, said)] == []
    for said in right:
        json.loads(said)


def test_properties_keep_their_order_and_are_left_out_at_will():
    schema = {"type": "object", "properties": {name: {"const": 1} for name in "abc"}, "required": ["b"]}
    right = ['{"b": 1}', '{"a": 1, "b": 1}', '{"b": 1, "c": 1}', '{"a": 1, "b": 1, "c": 1}']
    assert all(fits(schema, said) for said in right)
    assert not any(
        fits(schema, said) for said in ("{}", '{"a": 1}', '{"c": 1, "b": 1}', '{"b": 1, "b": 1}', '{"b": 1,}')
    )


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"not": {}}, "schema: the keyword 'not' cannot be honoured"),
        ({"properties": {"a": {"if": {}}}}, "schema at /properties/a: the keyword 'if'"),
        ({"type": "integer", "multipleOf": 3}, "'multipleOf'"),
        ({"type": "array", "uniqueItems": True}, "uniqueItems"),
        ({"type": "array", "prefixItems": []}, "'prefixItems'"),
        ({"allOf": [{}, {}]}, "allOf with several"),
        ({"oneOf": [{}, {"type": "string"}]}, "oneOf may fit the same value"),
        ({"anyOf": [{}], "minLength": 1}, "'minLength' beside 'anyOf'"),
        ({"enum": [1], "minimum": 1}, "'minimum' beside 'enum'"),
        ({"type": "string", "format": "colour"}, "the format 'colour' is not known; known are date"),
        ({"type": "string", "pattern": "(?=a)"}, "pattern, character 1: looking ahead"),
        ({"type": "text"}, "there is no type 'text'"),
        ({"type": 3}, "there is no type 3"),
        ({"$ref": "other.json"}, "only references within the schema"),
        ({"$ref": "#/nowhere"}, "there is no #/nowhere"),
        ({"$ref": "#"}, "leads back to itself"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"$ref": "#"}}}, "leads back"),
        ({"type": "string", "minLength": 5, "maxLength": 3}, "minLength 5 is above maxLength 3"),
        ({"type": "string", "minLength": -1}, "minLength is a whole number from 0"),
        ({"type": "array", "minItems": True}, "minItems is a whole number"),
        ({"type": "number", "minimum": 3, "maximum": 2}, "no number lies between 3 and 2"),
        ({"type": "number", "exclusiveMinimum": True}, "exclusiveMinimum is a number"),
        ({"type": "number", "minimum": 1e300}, "15 digits"),
        ({"enum": []}, "there is no value to choose"),
        ({"type": "string", "enum": [1]}, "there is no value to choose of this type"),
        ({"anyOf": []}, "there is nothing to choose from"),
        ({"properties": {}, "required": ["a"], "additionalProperties": False}, "'a' is required and not among"),
        ({"properties": {"a": False}, "required": ["a"]}, "schema at /properties/a: false fits no value"),
        ({"properties": [], "type": "object"}, "properties are an object"),
        ({"required": "a", "type": "object"}, "required is a list of names"),
        ({"type": "object", "minProperties": 1}, "minProperties cannot be honoured"),
        ({"properties": {"a": {}, "b": {}}, "maxProperties": 1}, "maxProperties 1 cannot be honoured"),
        (False, "false fits no value"),
        ([1], "a schema is an object"),
    ],
    ids=str,
)  # fmt: skip
def test_what_cannot_be_honoured_is_refused_by_its_keyword_and_place(schema, reason):
    with pytest.raises(SchemaError) as refused:
        schema_grammar(schema)
    assert reason in str(refused.value)


def test_an_endless_value_has_no_shortest_text():
    endless = {"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}
    assert ByteNetwork.of(schema_grammar(endless)).shortest is None


def test_deep_schemas_are_refused_and_wide_ones_stay_small():
    deep = {}
    for _ in range(300):
        deep = {"type": "array", "items": deep}
    with pytest.raises(SchemaError, match="nested too deeply"):
        schema_grammar(deep)
    nested = {"const": 1}
    for _ in range(20):
        nested = {"type": "array", "items": nested, "maxItems": 3}
    assert len(ByteNetwork.of(schema_grammar(nested)).bytes) < 2000
    with pytest.raises(SchemaError, match="it is not JSON"):
        read_schema("[" * 100_000)


@pytest.mark.parametrize("said", ["", "{", '{"enum": [NaN]}', "{'type': 'string'}"])
def test_what_is_no_json_is_refused(said):
    with pytest.raises(SchemaError):
        read_schema(said)
