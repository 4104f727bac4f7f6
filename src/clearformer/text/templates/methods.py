"""The functions that a template may call, and the methods of texts and dictionaries: closed tables, nothing else."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from clearformer.text.templates.budget import MOST_TEXT, Budget, TemplateError
from clearformer.text.templates.values import UNDEFINED, KnownFunction, Namespace, concatenated, kind_of, shown

Method = Callable[..., Any]

_OF_TEXTS: dict[str, Method] = {
    "capitalize": str.capitalize,
    "count": str.count,
    "endswith": str.endswith,
    "find": str.find,
    "isdigit": str.isdigit,
    "lower": str.lower,
    "lstrip": str.lstrip,
    "removeprefix": str.removeprefix,
    "removesuffix": str.removesuffix,
    "rfind": str.rfind,
    "rsplit": str.rsplit,
    "rstrip": str.rstrip,
    "split": str.split,
    "splitlines": str.splitlines,
    "startswith": str.startswith,
    "strip": str.strip,
    "title": str.title,
    "upper": str.upper,
}
_OF_DICTIONARIES: dict[str, Method] = {
    "get": lambda value, key, default=None: value.get(key, default),
    "items": lambda value: list(value.items()),
    "keys": lambda value: list(value),
    "values": lambda value: list(value.values()),
}
METHOD_NAMES = {*_OF_TEXTS, *_OF_DICTIONARIES, "join", "replace"}
FUNCTIONS = ("namespace", "raise_exception", "range", "strftime_now")


def call_method(of: Any, name: str, arguments: Sequence[Any], named: Mapping[str, Any], budget: Budget) -> Any:
    """of.name(arguments)."""
    if isinstance(of, str) and name == "join":
        return concatenated(_joined(*arguments), budget, of)
    if isinstance(of, str) and name == "replace":
        return replaced(of, *arguments, budget=budget)
    table = _OF_TEXTS if isinstance(of, str) else _OF_DICTIONARIES if isinstance(of, dict) else {}
    if name not in table:
        raise TemplateError(f"the method {name!r} of {kind_of(of)} is not supported here")
    if isinstance(of, str):
        budget.room_for_text(len(of))
    made = table[name](of, *arguments, **named)
    budget.weigh(made)
    return made


def _joined(items: Any) -> Any:
    if not isinstance(items, list | tuple) or not all(isinstance(item, str) for item in items):
        raise TemplateError("join takes a list of texts")
    return items


def replaced(text: str, old: Any, new: Any, count: Any = -1, *, budget: Budget) -> str:
    """text.replace(old, new), whose length is known before it is made."""
    if not isinstance(old, str) or not isinstance(new, str) or type(count) is not int:
        raise TemplateError("replace takes two texts, and how often")
    often = text.count(old) if count < 0 else min(count, text.count(old))
    budget.room_for_text(len(text) + often * max(0, len(new) - len(old)))
    return text.replace(old, new, count)


def call_function(name: str, arguments: Sequence[Any], named: Mapping[str, Any], budget: Budget) -> Any:
    """name(arguments)."""
    if name == "namespace" and not arguments:
        return Namespace(dict(named))
    if name == "range" and not named and all(type(one) is int for one in arguments):
        numbers = range(*arguments)
        budget.room_for_items(len(numbers))
        return list(numbers)
    if name == "raise_exception" and len(arguments) == 1:
        raise TemplateError(f"it says: {shown(arguments[0], budget)[:500]}")
    if name == "strftime_now" and len(arguments) == 1 and isinstance(arguments[0], str) and len(arguments[0]) < 100:
        return datetime.now().strftime(arguments[0])[:MOST_TEXT]
    raise TemplateError(f"{name} cannot be called with these arguments")


def known_function(name: str) -> Any:
    """A function that is named without being called."""
    return KnownFunction(name) if name in FUNCTIONS else UNDEFINED
