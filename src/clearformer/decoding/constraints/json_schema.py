"""JSON schemas, read into a grammar of the JSON texts to be written. What cannot be honoured is refused by its keyword.

Every text of the grammar fits the schema; not every text that fits is in the grammar. It writes as `json.dumps` does,
properties in the order of the schema and no further ones, numbers without exponents and with at most fifteen digits.
"""

import json
import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from clearformer.decoding.constraints.character_sets import EVERY
from clearformer.decoding.constraints.decimal_ranges import DIGITS, Limit, decimals
from clearformer.decoding.constraints.exclusive_schemas import exclude_each_other
from clearformer.decoding.constraints.formats import FORMATS
from clearformer.decoding.constraints.grammar import (
    NOTHING,
    Either,
    Grammar,
    LetterMachine,
    Listing,
    Part,
    RuleCall,
    Series,
    text,
)
from clearformer.decoding.constraints.json_text import (
    ANY,
    ANY_STRING,
    CHARACTER,
    COLON,
    COMMA,
    INTEGER,
    NUMBER,
    any_value,
    between,
    listed,
    literal,
    quoted,
    string,
    string_between,
)
from clearformer.decoding.constraints.machines import machine_of, with_length
from clearformer.decoding.constraints.regex import search_match, whole_match

ANNOTATIONS = {
    "title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly",
    "$schema", "$id", "$comment", "$defs", "definitions",
}  # fmt: skip
OF_TYPE = {
    "object": {"properties", "required", "additionalProperties", "minProperties", "maxProperties"},
    "array": {"items", "minItems", "maxItems", "uniqueItems"},
    "string": {"minLength", "maxLength", "pattern", "format"},
    "number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"},
    "integer": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"},
    "boolean": set(),
    "null": set(),
}
WHOLE = ("$ref", "anyOf", "oneOf", "allOf", "const", "enum")  # these say everything; beside them stands no other
DEEPEST, MOST_COUNTED = 50, 100_000
Schema = Any  # a mapping, True or False


class SchemaError(ValueError):
    """A schema that cannot be honoured, with the place in it that is to blame."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"schema{path and ' at '}{path}: {reason}")
        self.path, self.reason = path, reason


class NeverError(SchemaError):
    """A place in a schema that no value fits. Beside others, it is left out; alone, it is refused."""


def read_schema(said: str) -> Grammar:
    """A schema as JSON text."""
    try:
        schema = json.loads(said, parse_constant=_no_number)
    except (json.JSONDecodeError, RecursionError) as error:
        raise SchemaError("", f"it is not JSON ({error}); check the text") from None
    return schema_grammar(schema)


def schema_grammar(schema: Schema) -> Grammar:
    """The JSON texts to write for a schema."""
    reader = _SchemaReader(schema)
    start = reader.value(schema, "", frozenset())
    return Grammar(start, {**reader.rules, ANY: any_value(), CHARACTER: quoted(EVERY)})


def _no_number(said: str) -> None:
    raise SchemaError("", f"{said} is no number of JSON")


class _SchemaReader:
    """Reads a schema from the outside in. Paths are JSON pointers, as in #/properties/name."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self.rules: dict[str, Part] = {}

    def value(self, schema: Schema, path: str, seen: frozenset[str]) -> Part:
        """What may be written for a schema. seen: the references that led here without a character in between."""
        if schema is True:
            return RuleCall(ANY)
        if schema is False:
            raise NeverError(path, "false fits no value")
        if not isinstance(schema, Mapping):
            raise SchemaError(path, f"a schema is an object, true or false, not {json.dumps(schema)}")
        if path.count("/") > 2 * DEEPEST:
            raise SchemaError(path, "the schema is nested too deeply")
        said = {key: value for key, value in schema.items() if key not in ANNOTATIONS}
        if not said:
            return RuleCall(ANY)
        for keyword in WHOLE:
            if keyword in said:
                return self._whole(keyword, said, path, seen)
        return self._typed(said, path)

    # --- what says everything ----------------------------------------------------------------------------------------

    def _whole(self, keyword: str, said: Mapping[str, Any], path: str, seen: frozenset[str]) -> Part:
        beside = [key for key in said if key != keyword and not (key == "type" and keyword in ("const", "enum"))]
        if beside:
            raise SchemaError(path, f"{beside[0]!r} beside {keyword!r} cannot be honoured; leave one of them out")
        value, place = said[keyword], f"{path}/{keyword}"
        if keyword == "$ref":
            return self._reference(value, place, seen)
        if keyword == "const":
            return self._values([value], said, path)
        if not isinstance(value, list):
            raise SchemaError(path, f"{keyword} is a list")
        if keyword == "enum":
            return self._values(value, said, path)
        if keyword == "allOf" and len(value) != 1:
            raise SchemaError(path, "allOf with several schemas cannot be honoured; write one that says it all")
        if keyword == "oneOf" and not exclude_each_other(value):
            raise SchemaError(
                path, "the schemas of oneOf may fit the same value; use anyOf, or tell them apart by type"
            )
        return self._any_of(value, place, seen)

    def _any_of(self, schemas: list[Schema], path: str, seen: frozenset[str]) -> Part:
        options, never = [], NeverError(path, "there is nothing to choose from")
        for number, one in enumerate(schemas):
            try:
                options.append(self.value(one, f"{path}/{number}", seen))
            except NeverError as error:
                never = error
        if not options:
            raise never
        return Either(tuple(options))

    def _reference(self, target: Any, path: str, seen: frozenset[str]) -> Part:
        if not isinstance(target, str) or not target.startswith("#"):
            raise SchemaError(
                path, f"only references within the schema are followed, such as #/$defs/name, not {target!r}"
            )
        if target in seen:
            raise SchemaError(path, f"{target} leads back to itself without a value in between")
        if target not in self.rules:
            self.rules[target] = RuleCall(target)  # in case that it refers to itself
            try:
                self.rules[target] = self.value(self._find(target, path), target, seen | {target})
            except NeverError:
                self.rules[target] = NOTHING
                raise
        return RuleCall(target)

    def _find(self, target: str, path: str) -> Schema:
        found = self._root
        for step in target[1:].split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(found, Mapping) and name in found:
                found = found[name]
            elif isinstance(found, list) and name.isdigit() and int(name) < len(found):
                found = found[int(name)]
            else:
                raise SchemaError(path, f"there is no {target} in the schema")
        return found

    def _values(self, values: list[Any], said: Mapping[str, Any], path: str) -> Part:
        types = self._types(said, path) if "type" in said else list(OF_TYPE)
        fitting = [value for value in values if any(_is_type(value, one) for one in types)]
        if not fitting:
            raise NeverError(path, "there is no value to choose" + (" of this type" if values else ""))
        try:
            return Either(tuple(literal(value) for value in fitting))
        except (ValueError, UnicodeEncodeError) as error:
            raise SchemaError(path, f"a value cannot be written as JSON ({error})") from None

    # --- by type -----------------------------------------------------------------------------------------------------

    def _typed(self, said: Mapping[str, Any], path: str) -> Part:
        known = {"type", *(keyword for keywords in OF_TYPE.values() for keyword in keywords)}
        for keyword in said:
            if keyword not in known:
                raise SchemaError(path, f"the keyword {keyword!r} cannot be honoured; leave it out")
        if "type" in said:
            types = self._types(said, path)
        else:  # what is said of strings alone is written as a string
            types = [one for one, keywords in OF_TYPE.items() if one != "integer" and keywords & said.keys()]
        if "number" in types and "integer" in types:
            types.remove("integer")
        writers = {"object": self._object, "array": self._array, "string": self._string}
        options: list[Part] = []
        never = NeverError(path, "no type is left")
        for one in types:
            try:
                write = writers.get(one)
                options.append(write(said, path) if write else _plain(one, said, path))
            except NeverError as error:
                never = error
        if not options:
            raise never
        return options[0] if len(options) == 1 else Either(tuple(options))

    def _types(self, said: Mapping[str, Any], path: str) -> list[str]:
        given = said["type"]
        types = [given] if isinstance(given, str) else list(given) if isinstance(given, list) else [given]
        for one in types:
            if not isinstance(one, str) or one not in OF_TYPE:
                raise SchemaError(path, f"there is no type {one!r}; known are {', '.join(OF_TYPE)}")
        return list(dict.fromkeys(types))

    def _object(self, said: Mapping[str, Any], path: str) -> Part:
        properties, required = said.get("properties", {}), said.get("required", [])
        if not isinstance(properties, Mapping):
            raise SchemaError(path, "properties are an object")
        if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
            raise SchemaError(path, "required is a list of names")
        others = said.get("additionalProperties", True)
        unnamed = [name for name in dict.fromkeys(required) if name not in properties]
        if unnamed and others is False:
            raise NeverError(path, f"{unnamed[0]!r} is required and not among the properties")
        members = self._members({**properties, **dict.fromkeys(unnamed, others)}, set(required), path)
        _check_count(said, members, path)
        if not properties and not unnamed:
            return self._free_object(said, others, path)
        return between("{", Listing(tuple(members), COMMA), "}")

    def _members(self, properties: Mapping[str, Schema], required: set[str], path: str) -> list[tuple[Part, bool]]:
        """Name and value of each property, and whether it must be written."""
        members: list[tuple[Part, bool]] = []
        for name, schema in properties.items():
            place = f"{path}/properties/{name.replace('~', '~0').replace('/', '~1')}"
            try:
                value = self.value(schema, place, frozenset())
            except NeverError:
                if name in required:
                    raise
                continue  # a property that nothing fits is one that must not be there
            members.append((Series((literal(name), COLON, value)), name in required))
        return members

    def _free_object(self, said: Mapping[str, Any], others: Schema, path: str) -> Part:
        """Names of any kind. One that comes twice means its last value, so how many there are cannot be promised."""
        for keyword in ("minProperties", "maxProperties"):
            if keyword in said and said[keyword] != 0:
                raise SchemaError(path, f"{keyword} cannot be honoured where the properties have no names")
        if others is False or said.get("maxProperties") == 0:
            return text("{}")
        member = Series((ANY_STRING, COLON, self._shared(others, f"{path}/additionalProperties")))
        return between("{", listed(member, 0, None), "}")

    def _array(self, said: Mapping[str, Any], path: str) -> Part:
        if said.get("uniqueItems", False) is not False:
            raise SchemaError(path, "uniqueItems cannot be honoured; leave it out")
        least, most = _counts(said, "minItems", "maxItems", path)
        if most == 0:
            return text("[]")
        try:
            item = self._shared(said.get("items", True), f"{path}/items")
        except NeverError:
            if least:
                raise
            return text("[]")
        return between("[", listed(item, least, most), "]")

    def _shared(self, schema: Schema, path: str) -> Part:
        """A part that is used several times, as a rule: copies within copies would grow without bounds."""
        self.rules[path] = self.value(schema, path, frozenset())
        return RuleCall(path)

    def _string(self, said: Mapping[str, Any], path: str) -> Part:
        least, most = _counts(said, "minLength", "maxLength", path)
        if "pattern" in said and "format" in said:
            raise SchemaError(path, "'format' beside 'pattern' cannot be honoured; leave one of them out")
        if "pattern" not in said and "format" not in said:
            return string_between(least, most) if least or most is not None else ANY_STRING
        machine = _machine(said, path)
        if least or most is not None:
            machine = with_length(machine, least, most)
        return string(LetterMachine(machine.edges, machine.ends, quoted=True))


def _machine(said: Mapping[str, Any], path: str) -> LetterMachine:
    keyword = "pattern" if "pattern" in said else "format"
    value = said[keyword]
    if not isinstance(value, str):
        raise SchemaError(path, f"{keyword} is a text")
    if keyword == "format":
        if value not in FORMATS:
            raise SchemaError(path, f"the format {value!r} is not known; known are {', '.join(FORMATS)}")
        return machine_of(whole_match(FORMATS[value]).start)
    try:
        return machine_of(search_match(value))
    except ValueError as error:
        raise SchemaError(path, str(error)) from None


def _check_count(said: Mapping[str, Any], members: list[tuple[Part, bool]], path: str) -> None:
    least, most = _counts(said, "minProperties", "maxProperties", path)
    needed = sum(must for _, must in members)
    if members and least > needed:
        raise SchemaError(path, f"minProperties {least} cannot be honoured; name as many in 'required'")
    if members and most is not None and most < len(members):
        raise SchemaError(path, f"maxProperties {most} cannot be honoured; list no more properties")


def _counts(said: Mapping[str, Any], low: str, high: str, path: str) -> tuple[int, int | None]:
    for keyword in (low, high):
        value = said.get(keyword, 0)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise SchemaError(path, f"{keyword} is a whole number from 0, not {value!r}")
    least, most = said.get(low, 0), said.get(high)
    if most is not None and least > most:
        raise NeverError(path, f"{low} {least} is above {high} {most}")
    if least > MOST_COUNTED:
        raise SchemaError(path, f"{low} {least} is more than can be counted")
    return least, most


def _plain(kind: str, said: Mapping[str, Any], path: str) -> Part:
    if kind == "null":
        return literal(None)
    if kind == "boolean":
        return Either((literal(True), literal(False)))
    low = _limit(said, "minimum", "exclusiveMinimum", path, max)
    high = _limit(said, "maximum", "exclusiveMaximum", path, min)
    if low is None and high is None:
        return INTEGER if kind == "integer" else NUMBER
    if low is not None and high is not None:
        between_them = high.value - low.value
        if between_them < 0 or (between_them == 0 and (low.open or high.open)):
            raise NeverError(path, f"no number lies between {low.value} and {high.value}")
    return decimals(low, high, fraction=0 if kind == "integer" else _fraction(low, high))


def _fraction(low: Limit | None, high: Limit | None) -> int:
    """Digits behind the point: as many as keep the whole number exact."""
    whole = max(len(str(abs(int(one.value)))) for one in (low, high) if one is not None)
    return max(DIGITS - whole - (low is None or high is None), 0)


def _limit(said: Mapping[str, Any], closed: str, opened: str, path: str, choose: Any) -> Limit | None:
    found = [Limit(_number(said[key], key, path), key == opened) for key in (closed, opened) if key in said]
    if len(found) < 2:
        return found[0] if found else None
    first, second = found
    if first.value == second.value:
        return second
    return first if choose(first.value, second.value) == first.value else second


def _number(value: Any, keyword: str, path: str) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise SchemaError(path, f"{keyword} is a number, not {value!r}")
    number = Decimal(repr(value))
    # The shortest spelling of a float has up to 17 digits; no number of 15 digits rounds to it without being it.
    if not number.is_finite() or abs(number.adjusted()) >= DIGITS:
        raise SchemaError(path, f"{keyword} {value!r} is beyond the {DIGITS} digits that are kept exactly")
    return number


def _is_type(value: Any, kind: str) -> bool:
    kinds: dict[str, Any] = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
    if kind in kinds:
        return isinstance(value, kinds[kind])
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return kind == "number" or (math.isfinite(value) and value == int(value))
