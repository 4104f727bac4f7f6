"""Whether of several schemas no two can fit the same value, as far as that can be seen: oneOf asks for it."""

import json
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any


def exclude_each_other(schemas: Sequence[Any]) -> bool:
    """True only where it is certain."""
    return all(_apart(one, other) for one, other in combinations(schemas, 2))


def _apart(one: Any, other: Any) -> bool:
    if one is False or other is False:
        return True
    if not isinstance(one, Mapping) or not isinstance(other, Mapping):
        return False
    mine, theirs = _values(one), _values(other)
    if mine is not None and theirs is not None:
        return not mine & theirs
    types, others = _types(one), _types(other)
    if types is not None and others is not None and not types & others:
        return True
    return types == others == {"object"} and _told_apart(one, other)


def _told_apart(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Two objects with a property that both must have, and with different values of it."""
    needed = set(one.get("required", ())) & set(other.get("required", ()))
    mine, theirs = one.get("properties", {}), other.get("properties", {})
    return any(name in mine and name in theirs and _apart(mine[name], theirs[name]) for name in needed)


def _values(schema: Mapping[str, Any]) -> set[str] | None:
    """The only values that fit, where a schema lists them. 1 and 1.0 are one value, 1 and true are two."""
    if "const" in schema:
        return {_spelt(schema["const"])}
    return {_spelt(value) for value in schema["enum"]} if isinstance(schema.get("enum"), list) else None


def _spelt(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, sort_keys=True)


def _types(schema: Mapping[str, Any]) -> set[str] | None:
    """The types that can fit; a whole number is a number."""
    listed = _values(schema)
    if listed is not None:
        return {_type_of(json.loads(value)) for value in listed}
    given = schema.get("type")
    if given is None:
        return None
    names = [given] if isinstance(given, str) else given
    return {"number" if name == "integer" else name for name in names} if isinstance(names, list) else None


def _type_of(value: Any) -> str:
    kinds = {dict: "object", list: "array", str: "string", bool: "boolean", type(None): "null"}
    return kinds.get(type(value), "number")
