"""JSON schemas made by chance, and a check of values against them that shares nothing with what writes them."""

import datetime
import ipaddress
import re
import uuid
from random import Random
from typing import Any

PATTERNS = ["^[a-z]+$", "^\\d{3}-\\d{4}$", "ab|cd", "^(x|yz){1,3}", "[é雪😀]$", '^"?\\\\?$', "^[^a-y]{2}", "\\n"]
FORMATS = ["date", "time", "date-time", "uuid", "ipv4", "email"]
WORDS = ["a", "name", "größe", "雪", "x y", 'quo"te', "back\\slash", "~/", "😀"]


def random_schema(random: Random, depth: int = 0) -> dict[str, Any]:
    """One of every kind, the deeper the simpler. Most can be fitted by some value, not all."""
    makers = [_string, _number, _integer, _plain, _listed]
    makers += [_object, _object, _array, _several, _recursive] if depth < 3 else []
    return random.choice(makers)(random, depth)


def _string(random: Random, depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    kind = random.randrange(4)
    if kind == 0:
        return {**schema, "format": random.choice(FORMATS)}
    if kind == 1:
        schema["pattern"] = random.choice(PATTERNS)
    if random.random() < 0.5:
        schema["maxLength"] = random.randrange(8, 20)
    if random.random() < 0.5:
        schema["minLength"] = random.randrange(8)
    return schema


def _bounds(random: Random, make: Any) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    if random.random() < 0.6:
        schema[random.choice(["minimum", "exclusiveMinimum"])] = make()
    if random.random() < 0.6:
        least = next(iter(schema.values()), make())
        schema[random.choice(["maximum", "exclusiveMaximum"])] = round(least + abs(make()) + 2, 6)
    return schema


def _number(random: Random, depth: int) -> dict[str, Any]:
    digits = random.randrange(4)
    return {"type": "number", **_bounds(random, lambda: round(random.uniform(-300, 300), digits))}


def _integer(random: Random, depth: int) -> dict[str, Any]:
    size = 10 ** random.randrange(1, 6)
    return {"type": "integer", **_bounds(random, lambda: random.randrange(-size, size))}


def _plain(random: Random, depth: int) -> dict[str, Any]:
    return {"type": random.choice(["boolean", "null", ["null", "integer"], ["string", "boolean"]])}


def _listed(random: Random, depth: int) -> dict[str, Any]:
    values = [random.choice([*WORDS, 3, -1.5, None, True, [1, "b"], {"a": {}}]) for _ in range(random.randrange(1, 4))]
    return {"const": values[0]} if random.random() < 0.3 else {"enum": values}


def _object(random: Random, depth: int) -> dict[str, Any]:
    names = random.sample(WORDS, random.randrange(5))
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {name: random_schema(random, depth + 1) for name in names},
        "required": [name for name in names if random.random() < 0.5],
    }
    if random.random() < 0.7:
        schema["additionalProperties"] = False
    return schema


def _array(random: Random, depth: int) -> dict[str, Any]:
    schema = {"type": "array", "items": random_schema(random, depth + 1)}
    if random.random() < 0.6:
        schema["minItems"] = random.randrange(3)
    if random.random() < 0.6:
        schema["maxItems"] = random.randrange(2, 5)
    return schema


def _several(random: Random, depth: int) -> dict[str, Any]:
    if random.random() < 0.4:
        return {"oneOf": [_string(random, depth), _integer(random, depth), _object(random, depth)]}
    return {"anyOf": [random_schema(random, depth + 1) for _ in range(random.randrange(1, 4))]}


def _recursive(random: Random, depth: int) -> dict[str, Any]:
    """A tree. Only the outermost schema can have definitions, so deeper it is any value at all."""
    if depth:
        return {}
    node = {
        "type": "object",
        "properties": {
            "value": random_schema(random, 3),
            "children": {"type": "array", "items": {"$ref": "#/$defs/node"}, "maxItems": 2},
        },
        "required": ["value"],
    }
    return {"$ref": "#/$defs/node", "$defs": {"node": node}}


def fits(value: Any, schema: Any, root: Any) -> bool:
    """Whether a value fits, by the words of the specification."""
    if isinstance(schema, bool):
        return schema
    if "$ref" in schema:
        target = root
        for step in schema["$ref"].split("/")[1:]:
            target = target[step]
        return fits(value, target, root)
    if "const" in schema and not _equal(value, schema["const"]):
        return False
    if "enum" in schema and not any(_equal(value, one) for one in schema["enum"]):
        return False
    if "anyOf" in schema and not any(fits(value, one, root) for one in schema["anyOf"]):
        return False
    if "oneOf" in schema and sum(fits(value, one, root) for one in schema["oneOf"]) != 1:
        return False
    types = schema.get("type", [])
    if types and not any(_is(value, one) for one in ([types] if isinstance(types, str) else types)):
        return False
    return _fits_kind(value, schema, root)


def _fits_kind(value: Any, schema: Any, root: Any) -> bool:
    if isinstance(value, str):
        return (
            schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value))
            and re.search(schema.get("pattern", ""), value) is not None
            and _has_format(value, schema.get("format"))
        )
    if isinstance(value, dict):
        known = schema.get("properties", {})
        return (
            all(name in value for name in schema.get("required", []))
            and all(fits(one, known.get(name, schema.get("additionalProperties", True)), root)
                    for name, one in value.items())
        )  # fmt: skip
    if isinstance(value, list):
        count = schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value))
        return count and all(fits(one, schema.get("items", True), root) for one in value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return (
            schema.get("minimum", value) <= value <= schema.get("maximum", value)
            and not value <= schema.get("exclusiveMinimum", value - 1)
            and not value >= schema.get("exclusiveMaximum", value + 1)
        )
    return True


def _is(value: Any, kind: str) -> bool:
    if kind in ("integer", "number"):
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number and (kind == "number" or value == int(value))
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
    return isinstance(value, kinds[kind])


def _equal(one: Any, other: Any) -> bool:
    return type(one) is type(other) and one == other


def _has_format(value: str, name: str | None) -> bool:
    try:
        match name:
            case "date":
                datetime.date.fromisoformat(value)
            case "time":
                datetime.time.fromisoformat(value)
            case "date-time":
                datetime.datetime.fromisoformat(value)
            case "uuid":
                return str(uuid.UUID(value)) == value
            case "ipv4":
                ipaddress.IPv4Address(value)
            case "email":
                return re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s]+", value) is not None
    except ValueError:
        return False
    return True
