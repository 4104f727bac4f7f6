"""The values of a template: texts, numbers, lists and dictionaries, and a few that only a template has.

No attribute of a Python object is ever reached: what a dot or a bracket finds is a key of a dictionary, a place in a
list or text, or a field of the three records below.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from clearformer.text.templates.budget import MOST_DEPTH, Budget, TemplateError


class Undefined:
    """What a name stands for that nobody has given: empty, false, and equal only to its like."""

    def __bool__(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Undefined)

    def __hash__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return "Undefined"


UNDEFINED = Undefined()


@dataclass
class Namespace:
    """What `namespace()` makes: fields that a loop may change for what comes after it."""

    fields: dict[str, Any] = field(default_factory=dict)


@dataclass
class LoopPlace:
    """What `loop` says of the present turn."""

    items: list[Any]
    index: int

    def field(self, name: str) -> Any:
        """One of its facts by name."""
        count, at = len(self.items), self.index
        facts = {
            "index": at + 1,
            "index0": at,
            "first": at == 0,
            "last": at == count - 1,
            "length": count,
            "revindex": count - at,
            "revindex0": count - at - 1,
            "previtem": self.items[at - 1] if at else UNDEFINED,
            "nextitem": self.items[at + 1] if at + 1 < count else UNDEFINED,
        }
        if name not in facts:
            raise TemplateError(f"loop.{name} is not supported here")
        return facts[name]


@dataclass(frozen=True)
class KnownFunction:
    """A function that was named and not called; templates ask whether it is defined."""

    name: str


def plain(value: Any, depth: int = 0) -> Any:
    """A copy of what a caller gives, of which nothing but plain data is accepted."""
    if depth > MOST_DEPTH:
        raise TemplateError(f"what it is given nests more than {MOST_DEPTH} deep")
    if value is None or type(value) in (str, int, float, bool):
        return value
    if isinstance(value, list | tuple):
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, Mapping) and all(type(key) is str for key in value):
        return {key: plain(item, depth + 1) for key, item in value.items()}
    raise TemplateError(f"a {type(value).__name__} is no text, number, list or dictionary")


def kind_of(value: Any) -> str:
    """What to call a value in an error."""
    names = {str: "a text", bool: "true or false", int: "a number", float: "a number", list: "a list", tuple: "a list"}
    names |= {dict: "a dictionary", type(None): "none", Undefined: "something undefined"}
    return names.get(type(value), "something that is no data")


def is_number(value: Any) -> bool:
    """Whether it can be reckoned with; Python's true and false can."""
    return isinstance(value, int | float)


def shown(value: Any, budget: Budget) -> str:
    """A value as text."""
    if isinstance(value, str):
        return value
    if isinstance(value, Undefined):
        return ""
    if isinstance(value, Namespace | LoopPlace | KnownFunction):
        raise TemplateError(f"{kind_of(value)} cannot be shown")
    budget.weigh(value)
    return str(value)


def items_of(value: Any, budget: Budget) -> list[Any]:
    """What a loop goes through."""
    if isinstance(value, Undefined):
        return []
    if not isinstance(value, str | list | tuple | dict):
        raise TemplateError(f"a loop cannot go through {kind_of(value)}")
    budget.room_for_items(len(value))
    return list(value)


def look_up(of: Any, key: Any, *, by_name: bool) -> Any:
    """of.key and of[key]; UNDEFINED where there is no such thing."""
    if isinstance(of, Undefined):
        raise TemplateError(f"{key!r} is asked of something that is not defined")
    if isinstance(key, str) and key.startswith("_"):
        raise TemplateError(f"the name {key!r} is not allowed")
    if isinstance(of, LoopPlace) and isinstance(key, str):
        return of.field(key)
    if isinstance(of, Namespace) and isinstance(key, str):
        return of.fields.get(key, UNDEFINED)
    if isinstance(of, dict) and _is_key(key) and key in of and not (by_name and _is_of_python(of, key)):
        return of[key]
    if isinstance(of, str | list | tuple) and type(key) in (int, bool):
        return of[key] if -len(of) <= key < len(of) else UNDEFINED
    if isinstance(key, str) and _is_of_python(of, key):
        raise TemplateError(f"{key!r} of {kind_of(of)} is not supported here")
    return UNDEFINED


def _is_key(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float | Undefined)


def _is_of_python(value: Any, name: str) -> bool:
    """Whether Python would find something there that is no data. Such a thing is never fetched, only known of."""
    return name in dir(type(value))


def cut(of: Any, bounds: tuple[Any, Any, Any], budget: Budget) -> Any:
    """of[start:stop:step]."""
    start, stop, step = bounds
    if isinstance(of, Undefined) or not isinstance(of, str | list | tuple):
        raise TemplateError(f"{kind_of(of)} has no parts from one place to another")
    if not all(bound is None or type(bound) in (int, bool) for bound in bounds) or step == 0:
        raise TemplateError(f"the places {bounds} inside square brackets are not whole numbers")
    part = of[start:stop:step]
    budget.spend(len(part))
    return part


def concatenated(parts: Iterable[Any], budget: Budget, between: str = "") -> str:
    """Values as one text."""
    texts = [shown(part, budget) for part in parts]
    budget.room_for_text(sum(map(len, texts)) + len(between) * max(0, len(texts) - 1))
    return between.join(texts)
