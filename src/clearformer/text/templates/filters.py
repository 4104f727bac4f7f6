"""Filters (`value | trim`) and tests (`value is string`) of templates: closed tables."""

import json
import re
from collections.abc import Callable
from typing import Any

from clearformer.text.templates.budget import Budget, TemplateError
from clearformer.text.templates.methods import replaced
from clearformer.text.templates.values import (
    UNDEFINED,
    KnownFunction,
    LoopPlace,
    Namespace,
    Undefined,
    concatenated,
    items_of,
    kind_of,
    look_up,
    shown,
)


def _default(value: Any, budget: Budget, default_value: Any = "", boolean: bool = False) -> Any:
    return default_value if isinstance(value, Undefined) or (boolean and not value) else value


def _length(value: Any, budget: Budget) -> int:
    if not isinstance(value, str | list | tuple | dict | Undefined):
        raise TemplateError(f"{kind_of(value)} has no length")
    return 0 if isinstance(value, Undefined) else len(value)


def _trim(value: Any, budget: Budget, chars: str | None = None) -> str:
    return shown(value, budget).strip(chars)


def _title(value: Any, budget: Budget) -> str:
    words = re.split(r"([-\s({\[<]+)", shown(value, budget))
    return "".join(word[0].upper() + word[1:].lower() for word in words if word)


def _to_json(
    value: Any, budget: Budget, ensure_ascii: bool = False, indent: int | None = None, sort_keys: bool = False
) -> str:
    if isinstance(value, Undefined | Namespace | LoopPlace | KnownFunction):
        raise TemplateError(f"{kind_of(value)} cannot be written as JSON")
    if indent is not None and not 0 <= indent <= 16:
        raise TemplateError(f"an indent of {indent} is not supported here")
    budget.weigh(value)
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, sort_keys=sort_keys)


def _join(value: Any, budget: Budget, d: str = "", attribute: str | None = None) -> str:
    items = items_of(value, budget)
    found = items if attribute is None else [_attribute(item, attribute) for item in items]
    return concatenated(found, budget, shown(d, budget))


def _whole_number(value: Any, budget: Budget, default: int = 0) -> int:
    try:
        return int(value) if isinstance(value, str | int | float) else default
    except ValueError:
        return int(_number(value, budget, default))
    except OverflowError:
        return default


def _number(value: Any, budget: Budget, default: float = 0.0) -> float:
    try:
        return float(value) if isinstance(value, str | int | float) else default
    except (ValueError, OverflowError):
        return default


def _replace(value: Any, budget: Budget, old: Any, new: Any, count: int | None = None) -> str:
    return replaced(shown(value, budget), old, new, -1 if count is None else count, budget=budget)


def _map(value: Any, budget: Budget, name: str | None = None, *given: Any, **named: Any) -> list[Any]:
    items = items_of(value, budget)
    if name is None and set(named) <= {"attribute", "default"}:
        found = [_attribute(item, named.get("attribute")) for item in items]
        return [named.get("default", UNDEFINED) if isinstance(one, Undefined) else one for one in found]
    if name not in FILTERS:
        raise TemplateError(f"the filter {name!r} is not supported here")
    return [FILTERS[name](item, budget, *given, **named) for item in items]


def _select(keep: bool) -> Callable[..., list[Any]]:
    def select(value: Any, budget: Budget, attribute: str, test: str | None = None, *given: Any) -> list[Any]:
        """The items whose attribute passes a test; without a test, those where it is true."""
        if test is not None and test not in TESTS:
            raise TemplateError(f"the test {test!r} is not supported here")
        found = []
        for item in items_of(value, budget):
            one = _attribute(item, attribute)
            passes = bool(one) if test is None else TESTS[test](one, budget, *given)
            if passes == keep:
                found.append(item)
        return found

    return select


def _attribute(item: Any, name: Any) -> Any:
    if not isinstance(name, str) or not name.isidentifier():
        raise TemplateError(f"the attribute {name!r} is not supported here")
    return look_up(item, name, by_name=False)


def _ends(last: bool) -> Callable[..., Any]:
    def end(value: Any, budget: Budget) -> Any:
        items = items_of(value, budget)
        return UNDEFINED if not items else items[-1 if last else 0]

    return end


def _reverse(value: Any, budget: Budget) -> Any:
    return value[::-1] if isinstance(value, str) else items_of(value, budget)[::-1]


def _pairs(value: Any, budget: Budget) -> list[Any]:
    if isinstance(value, Undefined):
        return []
    if not isinstance(value, dict):
        raise TemplateError(f"{kind_of(value)} has no items")
    return list(value.items())


FILTERS: dict[str, Callable[..., Any]] = {
    "capitalize": lambda value, budget: shown(value, budget).capitalize(),
    "count": _length,
    "d": _default,
    "default": _default,
    "first": _ends(last=False),
    "float": _number,
    "int": _whole_number,
    "items": _pairs,
    "join": _join,
    "last": _ends(last=True),
    "length": _length,
    "list": items_of,
    "lower": lambda value, budget: shown(value, budget).lower(),
    "map": _map,
    "rejectattr": _select(keep=False),
    "replace": _replace,
    "reverse": _reverse,
    "safe": lambda value, budget: value,  # nothing is escaped here
    "selectattr": _select(keep=True),
    "string": shown,
    "title": _title,
    "tojson": _to_json,
    "trim": _trim,
    "upper": lambda value, budget: shown(value, budget).upper(),
}


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _divisible(value: Any, budget: Budget, by: Any) -> bool:
    if not (isinstance(value, int | float) and isinstance(by, int | float)):
        raise TemplateError(f"{kind_of(value)} cannot be divided by {kind_of(by)}")
    return value % by == 0


def _parity(rest: int) -> Callable[..., bool]:
    def test(value: Any, budget: Budget) -> bool:
        if not isinstance(value, int | float):
            raise TemplateError(f"{kind_of(value)} is neither even nor odd")
        return value % 2 == rest

    return test


def _equal(value: Any, budget: Budget, other: Any) -> bool:
    budget.weigh(value)
    return bool(value == other)


TESTS: dict[str, Callable[..., bool]] = {
    "boolean": lambda value, budget: isinstance(value, bool),
    "defined": lambda value, budget: not isinstance(value, Undefined),
    "divisibleby": _divisible,
    "eq": _equal,
    "equalto": _equal,
    "even": _parity(0),
    "false": lambda value, budget: value is False,
    "float": lambda value, budget: isinstance(value, float),
    "integer": lambda value, budget: _whole(value),
    "iterable": lambda value, budget: isinstance(value, str | list | tuple | dict | Undefined),
    "mapping": lambda value, budget: isinstance(value, dict),
    "ne": lambda value, budget, other: not _equal(value, budget, other),
    "none": lambda value, budget: value is None,
    "number": lambda value, budget: isinstance(value, int | float),
    "odd": _parity(1),
    "sequence": lambda value, budget: isinstance(value, str | list | tuple | dict | Undefined),
    "string": lambda value, budget: isinstance(value, str),
    "true": lambda value, budget: value is True,
    "undefined": lambda value, budget: isinstance(value, Undefined),
}
