"""The fields of an options dataclass as flags: names, choices, help and bounds come from the declaration.

`foundation.forms` describes the fields, for the command line as for HTTP and the studio.
"""

import argparse
from collections.abc import Iterable
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from clearformer.cli.usage import UsageError
from clearformer.foundation.forms import FormField, describe_fields

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    O = TypeVar("O", bound=DataclassInstance)  # noqa: E741
else:
    O = TypeVar("O")  # noqa: E741

_TYPES: dict[str, Any] = {"integer": int, "number": float, "text": str, "path": Path}


def add_options(
    parser: argparse.ArgumentParser,
    options: type,
    only: Iterable[str] | None = None,
    *,
    default: str = "{}",
) -> None:
    """One flag per field. default: how a default is shown, where something else may come before it."""
    for field in describe_fields(options, only=only):
        _add_option(parser, field, default)


def read_options(arguments: argparse.Namespace, options: type[O], usual: O | None = None) -> O:
    """The options that the command line gives; what it leaves open stays as usual, or at its default."""
    names = [field.name for field in fields(options) if field.init]
    given = {name: value for name in names if (value := getattr(arguments, name, None)) is not None}
    try:
        return options(**given) if usual is None else replace(usual, **given)
    except ValueError as error:
        raise UsageError(_with_flags(str(error), names)) from error


def flag(name: str) -> str:
    """--max-new for max_new."""
    return f"--{name.replace('_', '-')}"


def _add_option(parser: argparse.ArgumentParser, field: FormField, default: str) -> None:
    shown = "" if field["default"] in (None, []) else f" ({default.format(_spelled(field['default']))})"
    settings: dict[str, Any] = {
        "dest": field["name"],
        "default": None,  # so that what was left open can be told from what was given
        "required": field["required"],
        "help": (field["help"] + shown).replace("%", "%%"),
    }
    if field["kind"] == "boolean":
        parser.add_argument(flag(field["name"]), action=argparse.BooleanOptionalAction, **settings)
        return
    settings["choices" if field["kind"] == "choice" else "type"] = field["choices"] or _TYPES[field["kind"]]
    if field["kind"] in ("integer", "number"):
        settings["metavar"] = "N" if field["kind"] == "integer" else "X"
    # A flag a value: several values behind one flag would take the texts that follow for values, too.
    parser.add_argument(flag(field["name"]), action="append" if field["many"] else "store", **settings)


def _spelled(default: Any) -> str:
    return " ".join(map(str, default)) if isinstance(default, list) else str(default)


def _with_flags(sentence: str, names: Iterable[str]) -> str:
    """A refusal names fields as a recipe does (decoding.max_ratio); on the command line they are flags."""
    known = set(names)
    first, *rest = sentence.split(" ")
    name = first.rpartition(".")[2]
    # Behind the first word only names that are no words of English: "stop" may be one, top_p is not.
    rest = [flag(word) if word in known and "_" in word else word for word in rest]
    return " ".join([flag(name) if name in known else first, *rest])
