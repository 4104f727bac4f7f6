"""A dataclass of options as a list of form fields: the one description that every way of asking is built from.

Options are declared once, beside the code that reads them:

    @dataclass(frozen=True, kw_only=True)
    class DecodingConfig:
        beam: int = field(default=4, metadata={"help": "hypotheses kept at each step; 1 is greedy", "least": 1})

From that declaration come the flags of a command, the schema of an HTTP request and the form on a page
(`describe_fields`), and the check that a value lies within its bounds (`check_bounds`).
"""

import math
from collections.abc import Iterable
from dataclasses import MISSING, Field, fields
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypedDict, Union, get_args, get_origin, get_type_hints

METADATA = ("help", "least", "most")  # what a field's metadata may say

Kind = Literal["integer", "number", "text", "boolean", "path", "choice"]
KINDS: dict[type, Kind] = {int: "integer", float: "number", str: "text", bool: "boolean", Path: "path"}


class FormField(TypedDict):
    """One option. Apart from paths it is plain data, ready for JSON.

    kind: "choice" has its values in `choices`. many: a tuple or list of such values. required: there is no default.
    optional: may also be None, which leaves it open. least, most: both included; None is no bound.
    """

    name: str
    kind: Kind
    many: bool
    required: bool
    optional: bool
    default: Any
    choices: list[str] | None
    least: float | None
    most: float | None
    help: str


def describe_fields(options: type, *, only: Iterable[str] | None = None) -> list[FormField]:
    """The fields of a dataclass, in the order of its declaration, or in the order of `only`."""
    hints = get_type_hints(options)
    known = {field.name: field for field in fields(options) if field.init}
    names = list(known) if only is None else list(only)
    if unknown := [name for name in names if name not in known]:
        raise ValueError(f"{options.__name__} has no field {unknown[0]!r}; known are {', '.join(known)}")
    return [_describe(options, known[name], hints[name]) for name in names]


def check_bounds(options: Any, where: str = "") -> None:
    """Refuse a value outside its field's bounds or choices, or a number that is none: for a `__post_init__`.

    where: the name of the table that the options stand in, such as "use".
    """
    prefix = f"{where}." if where else ""
    for told in describe_fields(type(options)):
        value = getattr(options, told["name"])
        for one in value if told["many"] and value is not None else [value]:
            if one is not None and (reason := _reason_against(one, told)):
                raise ValueError(f"{prefix}{told['name']} {reason}")


def _reason_against(value: Any, told: FormField) -> str | None:
    if told["choices"] is not None:
        return None if value in told["choices"] else f"is {value!r}; choose {' or '.join(told['choices'])}"
    if told["kind"] == "number" and not math.isfinite(value):
        return f"must be a number, not {value}"
    if told["least"] is not None and value < told["least"]:
        return f"must be at least {told['least']}, not {value}"
    if told["most"] is not None and value > told["most"]:
        return f"must be at most {told['most']}, not {value}"
    return None


def _describe(options: type, field: Field[Any], hint: Any) -> FormField:
    place = f"{options.__name__}.{field.name}"
    if unknown := [key for key in field.metadata if key not in METADATA]:
        raise TypeError(f"{place} has metadata {unknown[0]!r}; known are {', '.join(METADATA)}")
    inner, optional = _without_none(hint)
    inner, many = _item_of(inner)
    kind, choices = _kind_of(inner, place)
    default: Any = field.default_factory() if field.default_factory is not MISSING else field.default
    required = default is MISSING
    return FormField(
        name=field.name,
        kind=kind,
        many=many,
        required=required,
        optional=optional,
        default=None if required else list(default) if many and default is not None else default,
        choices=choices,
        least=field.metadata.get("least"),
        most=field.metadata.get("most"),
        help=field.metadata.get("help", ""),
    )


def _without_none(hint: Any) -> tuple[Any, bool]:
    """A type without its `| None`, and whether it had one."""
    if get_origin(hint) not in (UnionType, Union):
        return hint, False
    parts = [part for part in get_args(hint) if part is not NoneType]
    return (parts[0] if len(parts) == 1 else hint), len(parts) < len(get_args(hint))


def _item_of(hint: Any) -> tuple[Any, bool]:
    """The type of a list's items, and whether there is a list."""
    arguments = get_args(hint)
    if get_origin(hint) is list or (get_origin(hint) is tuple and arguments[1:] == (...,)):
        return arguments[0], True
    return hint, False


def _kind_of(hint: Any, place: str) -> tuple[Kind, list[str] | None]:
    if get_origin(hint) is Literal and all(isinstance(value, str) for value in get_args(hint)):
        return "choice", list(get_args(hint))
    if hint in KINDS:
        return KINDS[hint], None
    known = "int, float, str, bool, Path, a Literal of words, a list or tuple of these, or one of them | None"
    raise TypeError(f"{place} is of type {hint}, which no form can ask for; use {known}")
